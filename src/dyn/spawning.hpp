// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// MPI_Comm_spawn and MPI_Comm_spawn_multiple (MPI 5.0, 11.8).
///
/// The root starts the children (dyn/families.hpp), which find a port name in HEDDLE_PARENT. Their
/// MPI_Init connects to it, all of their world at once, and the root accepts. A failure before that
/// fails this call, and no other.
///
/// Errors         MPI_ERR_SPAWN with the reason, raised on `comm`.

#include <string_view>
#include <vector>

#include "comm/agreement.hpp"
#include "launch/children.hpp"

namespace heddle::dyn {

/// The results for the requested processes, in the order of the commands: the same in all ranks of
/// `comm`.
struct SpawnCodes {
    std::int32_t count = 0;    ///< number of codes
    std::int32_t started = 0;  ///< the first `started` are MPI_SUCCESS, the others MPI_ERR_SPAWN
};

/// The root's request. If `error` is set, it has been raised, and nothing is started.
struct SpawnRequest {
    std::vector<launch::Command> commands;
    int error = 0;
};

/// Starts the children. `request` counts at `root`. The part's remote group are the children.
int spawn(core::Thread& thread, objects::Communicator& comm, std::int32_t root,
          const SpawnRequest& request, comm::Part& part, SpawnCodes& codes);

/// Returns the communicator with the parents, in MPI_Init of a child. `parent` is the text of
/// HEDDLE_PARENT. Throws std::runtime_error.
objects::Communicator& connect_to_parent(core::Thread& thread, std::string_view parent);

}  // namespace heddle::dyn
