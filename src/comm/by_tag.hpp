// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Making communicators without a communicator (MPI 5.0, 7.4.2 and 7.6.2): processes find each other by
/// the string that all of them pass, and the group.
///
/// String and group become a context and a tag by hashing, 62 bits, that messages of nothing else carry.
/// Calls with different strings or groups may so run at once in any order; calls with the same follow
/// each other, as messages between two processes do. Two that run at once between the same processes are
/// taken for each other by a chance of one in 2^62.

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
/// `names`: what all processes of the group know it by (comm/participants.hpp).
Meeting meeting(std::string_view string, std::span<const std::uint64_t> names) noexcept;

// Errors are raised on `for_errors`.

/// A context for a new communicator of the group, which the caller is in.
int create_from_group(core::Thread& thread, objects::Communicator& for_errors,
                      const objects::Group& group, std::string_view string, Part& part);

/// How the calling leader reaches the other one, the process `leader`.
Route to_leader(core::Thread& thread, objects::Communicator& for_errors, std::int32_t leader,
                std::string_view string);
/// Of two groups; the caller is in `local`. `route` counts at the leader only.
int create_from_groups(core::Thread& thread, objects::Communicator& for_errors,
                       const objects::Group& local, std::int32_t local_leader, const Route& route,
                       std::string_view string, Part& part);

}  // namespace heddle::comm
