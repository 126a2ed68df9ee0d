// SPDX-License-Identifier: BSD-3-Clause
/// What this process still has of which context (comm/recycling.hpp).

#include <algorithm>
#include <mutex>

#include "objects/contexts.hpp"
#include "objects/process.hpp"
#include "p2p/all_instances_lock.hpp"

namespace heddle::p2p {

/// A message that was sent before the call (as this process can know: it has heard from the sender, or
/// from somebody who has) was blocked at its sender, or has been published in a ring. So first it is
/// asked what is blocked, and then everything is taken out of the rings. With all locks held nobody
/// else has a message in his hands.
BusyContexts Engine::busy_contexts(core::Thread& thread) {
    BusyContexts busy;
    for (std::int32_t from = 0; from < static_cast<std::int32_t>(node_.processes()); ++from)
        busy.unknown = !notice_from(from).each(
                           [&](std::uint32_t context) { busy.found.push_back(context); }) ||
            busy.unknown;
    const auto add = [&](std::uint32_t context) { busy.found.push_back(context); };
    ProgressCall call(thread);
    if (is_sequenced()) match_all_that_came(call);
    finish_after(call, [&] {
        const AllInstancesLock all(*this);
        if (!is_sequenced()) drain_in_order(call, all);
        const auto add_receive = [&](const core::Request& receive) { add(receive.context); };
        const auto add_message = [&](const match::Message& message) {
            if (!offers_.is_taken_back(message)) add(message.envelope.context);
        };
        for_each(used(), [&](instance::Instance& instance) {
            sweep(instance);
            instance.matcher.each_posted(add_receive);
            instance.matcher.each_kept(add_message);
        });
        wildcards_.each_posted(add_receive);
        homes_.each([&](std::size_t, PostedWildcards& posted) { posted.each_posted(add_receive); });
        deferred_.each(add_message);
        for (std::size_t home = 0; is_sequenced() && home < pool_.size(); ++home)
            laboratory_->each_early(home, add_message);
    });
    std::sort(busy.found.begin(), busy.found.end());
    busy.found.erase(std::unique(busy.found.begin(), busy.found.end()), busy.found.end());
    return busy;
}

/// What was searched for there counts for no communicator any more.
void Engine::forget(const std::vector<std::uint32_t>& contexts) {
    for_each(used(), [&](instance::Instance& instance) {
        std::lock_guard guard(instance.lock);
        for (const std::uint32_t context : contexts) instance.matcher.searches().forget(context);
    });
    for (const std::uint32_t context : contexts) wildcards_.forget(context);
    homes_.each([&](std::size_t instance, PostedWildcards& posted) {
        const std::lock_guard guard(pool_[instance].lock);
        for (const std::uint32_t context : contexts) posted.searches().forget(context);
    });
}

void Engine::give_memory_back(core::Thread& thread) {
    // Those of the world, once it is over: it does not come again. Others may be of a communicator that this process is
    // going to take part in when it is opened again, and that others have made already.
    const bool world_is_over = thread.process->world_life() == objects::Process::Life::finalized;
    const auto is_left = [world_is_over](const match::Message& message) {
        const std::uint32_t context = message.envelope.context & ~objects::partitioned_context;
        return world_is_over && context >= objects::world_context &&
            context < objects::first_free_context;
    };
    for_each(used(), [&](instance::Instance& instance) {
        std::lock_guard guard(instance.lock);
        std::vector<match::Message*> left;
        instance.matcher.each_kept([&](const match::Message& message) {
            if (is_left(message)) left.push_back(const_cast<match::Message*>(&message));  // ours
        });
        for (match::Message* message : left) {
            take(instance, *message);
            copies_.leave(*message);
            free_message(thread, *message);
        }
    });
    each_inlet([this](instance::Instance& instance, instance::Inlet& inlet) {
        give_cells_back(instance, inlet);
    });
    // A process that leaves the world model is about to end, and the file with it.
    if (thread.process->world_life() == objects::Process::Life::fresh) idle_rings_.drop_all(thread);
    empty_pools(thread);
    blocks_.empty();
    messages_.trim();
    backlog_.trim();
}

}  // namespace heddle::p2p
