// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// MPI_Comm_spawn and MPI_Comm_spawn_multiple (MPI 5.0, 11.8).
///
/// The root starts the children (dyn/families.hpp), who find a port name in HEDDLE_PARENT. Their MPI_Init connects to it, all
/// of their world at once, and the root accepts. What keeps children from that fails the call, and no other.
///
/// Errors         MPI_ERR_SPAWN with the reason, raised on `comm`.

#include <string_view>
#include <vector>

#include "comm/agreement.hpp"
#include "launch/children.hpp"

namespace heddle::dyn {

/// What became of the processes that were asked for, by the order of the commands: the same for everybody in `comm`.
struct SpawnCodes {
    std::int32_t count = 0;    ///< of codes
    std::int32_t started = 0;  ///< so many of the first are MPI_SUCCESS, the others MPI_ERR_SPAWN
};

/// What the root asks for; if `error` is one, that has been raised, and nothing is started.
struct SpawnRequest {
    std::vector<launch::Command> commands;
    int error = 0;
};

/// `request` counts at `root`. The part's remote group are the children.
int spawn(core::Thread& thread, objects::Communicator& comm, std::int32_t root,
          const SpawnRequest& request, comm::Part& part, SpawnCodes& codes);

/// In MPI_Init of a child: the communicator with those who have started it. `parent` is what it has found in
/// HEDDLE_PARENT. Throws std::runtime_error.
objects::Communicator& connect_to_parent(core::Thread& thread, std::string_view parent);

}  // namespace heddle::dyn
