// SPDX-License-Identifier: BSD-3-Clause
#include "comm/finalize.hpp"

#include <cstring>

#include "p2p/operations.hpp"

namespace heddle::comm {
namespace {

using p2p::Endings;
using p2p::Engine;

/// The condition that a session or the world model may end. None of its messages that were sent and
/// given up waits for room in a ring, or for its receiver. The library's buffer has no data of
/// standard sends left: their calls might have waited for that, too. For everybody: no other
/// message waits either, and no collective is pending. (Bells ring when there is room, see
/// Polling::announce_backlog, and for answers of receivers.)
class HandedOver {
public:
    HandedOver(Engine& engine, core::Thread& thread, Endings::Owner owner) noexcept
        : engine_(engine), thread_(thread), owner_(owner) {}
    bool holds() const {
        if (!engine_.sender().buffer_is_empty()) return false;
        if (owner_ != Endings::everybody) return !engine_.endings().has_sends(thread_, owner_);
        return engine_.endings().all_composed_over() && engine_.polling().all_handed_over() &&
            !engine_.endings().has_sends(thread_, owner_) && engine_.far().is_drained();
    }
    Engine::Instances instances() const noexcept { return instance::all; }
    Engine::Instances likely_instances() const noexcept { return instance::all; }
    void announce(sync::Slot* slot) const {
        if (slot != nullptr)
            engine_.endings().await(*slot);
        else
            engine_.endings().unawait(thread_.slot);
    }
    void tell(core::Thread& thread, node::WaitsFor& what) const noexcept {
        node::AwaitedEvent& event = *what.add();
        event.kind = engine_.endings().all_composed_over() ? node::AwaitedKind::taken
                                                           : node::AwaitedKind::composed;
        p2p::tell_everybody(thread, event);
    }

private:
    Engine& engine_;
    core::Thread& thread_;
    const Endings::Owner owner_;
};

void wait_for_end(core::Thread& thread, Endings::Owner owner) {
    Engine& engine = *thread.engine;
    const HandedOver end(engine, thread, owner);
    if (!end.holds()) progress::wait(engine.polling(), thread, end);
}

}  // namespace

void hand_over(core::Thread& thread, const objects::Session* session) {
    wait_for_end(thread, session);
}

void hand_over_everything(core::Thread& thread) {
    // Processes that have left do not take these messages. Lost ids are only withheld.
    thread.engine->drop_blocked(thread, objects::recycling_context);
    wait_for_end(thread, Endings::everybody);
}

int say_goodbye(core::Thread& thread) {
    objects::Communicator& world = *thread.process->world;
    hand_over(thread, nullptr);
    // Dissemination: after round k every rank has heard, indirectly, of the 2^(k+1) ranks before
    // it.
    for (std::int32_t step = 1, round = 0; step < world.peers; step *= 2, ++round) {
        const std::int32_t next = (world.rank + step) % world.peers;
        const std::int32_t before = (world.rank - step + world.peers) % world.peers;
        const int error = p2p::exchange(thread, world, objects::library_context, nullptr, 0, next,
                                        nullptr, 0, before, round);
        if (error != MPI_SUCCESS) return error;
    }
    // No process depends on this one any more: pending messages answer operations that their
    // processes have given up.
    return MPI_SUCCESS;
}

void forget_buffers(objects::Process& process) noexcept {
    for (std::size_t i = 0; core::Request* request = process.requests.at_place(i); ++i)
        if (request->kind.load(relaxed) != core::Kind::request) request->buffer = nullptr;
    const auto& messages = process.engine->messages();
    for (std::size_t i = 0; match::Message* message = messages.at_place(i); ++i) {
        if (message->protocol != match::no_protocol) continue;
        message->payload = nullptr;
        std::memset(message->small, 0, sizeof message->small);
    }
}

}  // namespace heddle::comm
