// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// An ordered set of processes (MPI 5.0, 7.2). It never changes once it is made, so that
/// communicators and handles share one, counted.

#include <cstdint>
#include <span>
#include <vector>

#include "core/object.hpp"
#include "mpi.h"

namespace heddle::objects {

class Process;
struct Session;

struct Group : core::Handed {
    Group* next = nullptr;
    std::span<const std::int32_t> processes;  ///< rank in the group -> number of the process
    std::vector<std::int32_t> own;  ///< their memory; empty if it is a part of MPI_COMM_WORLD's
    std::int32_t rank = 0;          ///< of the calling process; MPI_UNDEFINED if it is outside
    Session* session = nullptr;     ///< the session it comes from, counted, or nullptr

    std::int32_t size() const noexcept { return static_cast<std::int32_t>(processes.size()); }
};

/// Makes a group of these processes (launch/numbering.hpp), with one reference. Ranks that follow
/// each other in MPI_COMM_WORLD share its memory: a split or a copy of a large job keeps no table.
/// Throws std::bad_alloc.
Group& make_group(Process& process, std::vector<std::int32_t> processes,
                  Session* session = nullptr);
/// Drops a reference. The last one destroys the group.
void drop(Process& process, Group& group) noexcept;
/// Returns the user's handle of a new group: MPI_GROUP_EMPTY for an empty one.
MPI_Group handle_of(Process& process, Group& group) noexcept;

// The algebra of groups, on numbers of processes (MPI 5.0, 7.3.2).

using Members = std::vector<std::int32_t>;
using MembersView = std::span<const std::int32_t>;

/// Returns the rank in `group` of each of `processes`, and MPI_UNDEFINED for those outside.
Members ranks_of(MembersView processes, MembersView group);
Members united(MembersView first, MembersView second);
Members intersected(MembersView first, MembersView second);
Members without(MembersView first, MembersView second);
/// Returns MPI_IDENT, MPI_SIMILAR or MPI_UNEQUAL.
int compared(MembersView first, MembersView second);
/// Returns the weaker of two results of compared().
int weaker(int first, int second) noexcept;

}  // namespace heddle::objects
