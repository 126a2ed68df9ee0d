// SPDX-License-Identifier: BSD-3-Clause
/// The contexts that this process still uses (comm/recycling.hpp).

#include <algorithm>

#include "objects/contexts.hpp"
#include "objects/process.hpp"
#include "p2p/engine.hpp"

namespace heddle::p2p {

/// Returns the contexts of messages that were sent before the call, and of posted receives. Before
/// means: this process has heard from the sender, or from a process that has. At the call the
/// message was blocked at its sender, or was published in a ring. So first the blocked ones are
/// looked up; then everything is taken out of the rings. With all locks held no other thread holds
/// a message outside of queues.
BusyContexts Engine::busy_contexts(core::Thread& thread) {
    BusyContexts busy;
    for (std::int32_t from = 0; from < static_cast<std::int32_t>(base_.rings.processes()); ++from)
        busy.unknown = !base_.notice_from(from).each(
                           [&](std::uint32_t context) { busy.found.push_back(context); }) ||
            busy.unknown;
    const auto add = [&](std::uint32_t context) { busy.found.push_back(context); };
    ProgressCall call(thread);
    if (base_.is_sequenced()) recipes_.match_all_that_came(call);
    finish_after(call, [&] {
        const instance::AllInstances all = base_.lock_all();
        if (!base_.is_sequenced()) any_tag_.drain_in_order(call, all);
        const auto add_receive = [&](const core::Request& receive) { add(receive.context); };
        const auto add_message = [&](const match::Message& message) {
            if (!offers_.is_taken_back(message)) add(message.envelope.context);
        };
        all.each([&](instance::LockedInstance instance) {
            unexpected_.sweep(instance);
            instance->matcher.each_posted(add_receive);
            instance->matcher.each_kept(add_message);
        });
        any_tag_.each_list(all, [&](auto& posted) { posted.each_posted(add_receive); });
        any_tag_.each_deferred(all, add_message);
        for (std::size_t home = 0; base_.is_sequenced() && home < base_.pool.size(); ++home)
            base_.laboratory->each_early(home, add_message);
    });
    std::sort(busy.found.begin(), busy.found.end());
    busy.found.erase(std::unique(busy.found.begin(), busy.found.end()), busy.found.end());
    return busy;
}

/// Ends the counting of earlier searches for a communicator.
void Engine::forget(const std::vector<std::uint32_t>& contexts) {
    base_.pool.each(base_.pool.used(), [&](instance::Instance& instance) {
        const instance::InstanceLock held(instance);
        for (const std::uint32_t context : contexts) held->matcher.searches().forget(context);
    });
    for (const std::uint32_t context : contexts) any_tag_.forget(context);
}

void Engine::give_memory_back(core::Thread& thread) {
    base_.pool.each(base_.pool.used(), [&](instance::Instance& instance) {
        const instance::InstanceLock held(instance);
        // Messages of the world go once it is over, since it does not come again. Others may belong
        // to a communicator that other processes have made already. This process may take part in
        // it when it is opened again.
        if (thread.process->world_life() == objects::Process::Life::finalized)
            free_kept_of_world(held);
        held->each_polled([&](instance::Inlet& inlet) { rings_.give_cells_back(held, inlet); });
    });
    // A process that leaves the world model is about to end, and its file with it.
    if (thread.process->world_life() == objects::Process::Life::fresh)
        polling_.idle_rings().drop_all(thread);
    messages_.drain(thread);
    messages_.trim();
    backlog_.trim();
}

void Engine::free_kept_of_world(instance::LockedInstance instance) {
    std::vector<match::Message*> left;
    instance->matcher.each_kept([&](match::Message& message) {
        const std::uint32_t context = message.envelope.context & ~objects::partitioned_context;
        if (context >= objects::world_context && context < objects::first_free_context)
            left.push_back(&message);
    });
    for (match::Message* message : left) {
        unexpected_.take(instance, *message);
        unexpected_.drop(*message);
    }
}

bool Engine::bind_rings_again() {
    if (!base_.pool.bind_again() || !payload_rings_.bind_again()) return false;
    bool mapped = true;
    base_.pool.each(base_.pool.used(), [&](instance::Instance& instance) {
        const instance::InstanceLock held(instance);
        for (std::size_t from = 0; from < base_.rings.processes() && mapped; ++from) {
            instance::Inlet& inlet = held->inlets[from];
            if (!inlet.bound || !inlet.payload) continue;
            inlet.payload =
                payload_rings_.open(static_cast<std::int32_t>(from), inlet.payload_number);
            mapped = static_cast<bool>(inlet.payload);
        }
    });
    return mapped;
}

}  // namespace heddle::p2p
