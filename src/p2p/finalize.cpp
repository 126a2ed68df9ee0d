// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/finalize.hpp"

#include <cstdio>

#include "p2p/operations.hpp"

namespace heddle::p2p {
namespace {

/// Nothing waits for room in a ring any more. (Bells ring when there is room: Engine::announce_backlog.)
class HandedOver {
public:
    explicit HandedOver(Engine& engine) noexcept : engine_(engine) {}
    bool holds() const noexcept { return engine_.all_handed_over(); }
    Engine::Instances instances() const noexcept { return Engine::all; }
    Engine::Instances likely_instances() const noexcept { return Engine::all; }
    void announce(sync::Slot*) const noexcept {}
    void describe(char* text, std::size_t bytes) const {
        std::snprintf(text, bytes, "(messages that were sent wait for room at their receivers)");
    }

private:
    Engine& engine_;
};

}  // namespace

int say_goodbye(core::Thread& thread) {
    objects::Communicator& world = *thread.process->world;
    Engine& engine = *thread.process->engine;
    progress::wait(engine, thread, HandedOver(engine));
    // Dissemination: after round k everybody has heard, indirectly, of the 2^(k+1) ranks before it.
    for (std::int32_t step = 1, round = 0; step < world.peers; step *= 2, ++round) {
        const std::int32_t next = (world.rank + step) % world.peers;
        const std::int32_t before = (world.rank - step + world.peers) % world.peers;
        const int error = exchange(thread, world, objects::library_context, nullptr, 0, next, nullptr,
                                   0, before, round);
        if (error != MPI_SUCCESS) return error;
    }
    progress::wait(engine, thread, HandedOver(engine));
    return MPI_SUCCESS;
}

}  // namespace heddle::p2p
