// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Makes communicators without a communicator (MPI 5.0, 7.4.2 and 7.6.2): processes find each other
/// by the group and the string that all of them pass.
///
/// String and group are hashed to a context and a tag of 62 bits, which no other messages carry. So
/// calls with different strings or groups may run at once in any order. Calls with the same ones
/// follow each other, like messages between two processes. Two calls that run at once between the
/// same processes are confused with a chance of one in 2^62.

#include <cstdint>
#include <span>
#include <string_view>

#include "comm/leaders.hpp"
#include "core/thread.hpp"
#include "objects/group.hpp"

namespace heddle::comm {

struct Meeting {
    std::uint32_t context;
    std::int32_t tag;  ///< at least 0
};
/// Returns the meeting of a group. `names` are its processes' common names (comm/participants.hpp).
Meeting meeting(std::string_view string, std::span<const std::uint64_t> names) noexcept;

// Errors are raised on `for_errors`.

/// Makes a context for a new communicator of the group. The caller is in the group.
int create_from_group(core::Thread& thread, objects::Communicator& for_errors,
                      const objects::Group& group, std::string_view string, Part& part);

/// Returns the calling leader's route to the other one, the process `leader`.
Route to_leader(core::Thread& thread, objects::Communicator& for_errors, std::int32_t leader,
                std::string_view string);
/// Makes a part of two groups. The caller is in `local`. `route` counts at the leader only.
int create_from_groups(core::Thread& thread, objects::Communicator& for_errors,
                       const objects::Group& local, std::int32_t local_leader, const Route& route,
                       std::string_view string, Part& part);

}  // namespace heddle::comm
