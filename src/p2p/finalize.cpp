// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/finalize.hpp"

#include <cstdio>

#include "p2p/operations.hpp"

namespace heddle::p2p {
namespace {

/// No collective is on its way, and nothing that was sent waits for room in a ring, or for its receiver
/// to take it. (Bells ring when there
/// is room, see Engine::announce_backlog, and for what receivers answer.)
class HandedOver {
public:
    HandedOver(Engine& engine, core::Thread& thread) noexcept : engine_(engine), thread_(thread) {}
    bool holds() const {
        return engine_.all_composed_over() && engine_.all_handed_over() &&
               !engine_.has_abandoned_sends(thread_);
    }
    Engine::Instances instances() const noexcept { return Engine::all; }
    Engine::Instances likely_instances() const noexcept { return Engine::all; }
    void announce(sync::Slot*) const noexcept {}
    void describe(char* text, std::size_t bytes) const {
        std::snprintf(text, bytes, "%s",
                      engine_.all_composed_over()
                          ? "(messages that were sent have not been taken by their receivers)"
                          : "(nonblocking collectives that were started are not complete)");
    }

private:
    Engine& engine_;
    core::Thread& thread_;
};

}  // namespace

void hand_over(core::Thread& thread) {
    Engine& engine = *thread.process->engine;
    const HandedOver all(engine, thread);
    if (!all.holds()) progress::wait(engine, thread, all);
}

int say_goodbye(core::Thread& thread) {
    objects::Communicator& world = *thread.process->world;
    hand_over(thread);
    // Dissemination: after round k everybody has heard, indirectly, of the 2^(k+1) ranks before it.
    for (std::int32_t step = 1, round = 0; step < world.peers; step *= 2, ++round) {
        const std::int32_t next = (world.rank + step) % world.peers;
        const std::int32_t before = (world.rank - step + world.peers) % world.peers;
        const int error = exchange(thread, world, objects::library_context, nullptr, 0, next, nullptr,
                                   0, before, round);
        if (error != MPI_SUCCESS) return error;
    }
    // Nobody depends on this process any more: what is still on its way answers operations that their
    // processes have given up.
    return MPI_SUCCESS;
}

}  // namespace heddle::p2p
