// SPDX-License-Identifier: BSD-3-Clause
/// What this process still has of which context (p2p/recycling.hpp).

#include <algorithm>
#include <mutex>

#include "p2p/everything.hpp"

namespace heddle::p2p {

/// A message that was sent before the call (as this process can know: it has heard from the sender, or
/// from somebody who has) was held back by its sender, or has been published in a ring. So first it is
/// asked what is held back, and then everything is taken out of the rings. With all locks held nobody
/// else has a message in his hands.
BusyContexts Engine::busy_contexts(core::Thread& thread) {
    BusyContexts busy;
    for (std::size_t from = 0; from < node_.processes(); ++from) {
        const transport::shm::HeldBack& held = node_.held_back(from, static_cast<std::size_t>(rank_));
        if (held.earliest.load(acquire) != 0) busy.held_back |= held.contexts.load(acquire);
    }
    const auto add = [&](std::uint32_t context) { busy.queued.push_back(context); };
    Turn turn(thread);
    if (is_sequenced()) match_all_that_came(turn);
    {
        const Everything everything(*this);
        if (!is_sequenced()) drain_in_order(turn, everything);
        const auto add_receive = [&](const core::Request& receive) { add(receive.context); };
        for_each(used(), [&](instance::Instance& instance) {
            instance.matcher.each_posted(add_receive);
            instance.matcher.each_kept([&](const match::Message& message) { add(message.envelope.context); });
        });
        wildcards_.each_posted(add_receive);
        for (const match::Message* message : put_off_) add(message->envelope.context);
        for (std::size_t home = 0; is_sequenced() && home < pool_.size(); ++home)
            laboratory_->each_early(home, [&](const match::Message& early) { add(early.envelope.context); });
    }
    finish(turn);
    std::sort(busy.queued.begin(), busy.queued.end());
    busy.queued.erase(std::unique(busy.queued.begin(), busy.queued.end()), busy.queued.end());
    return busy;
}

/// What was searched for there counts for no communicator any more.
void Engine::forget(const std::vector<std::uint32_t>& contexts) {
    for_each(used(), [&](instance::Instance& instance) {
        std::lock_guard guard(instance.lock);
        for (const std::uint32_t context : contexts) instance.matcher.searches().forget(context);
    });
    for (const std::uint32_t context : contexts) wildcards_.forget(context);
}

}  // namespace heddle::p2p
