// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Memory that all ranks of a communicator share, for large blocking collectives.
///
/// Who has one    a communicator gets a stage with the first call that wants it, and keeps it until it is
///                freed. Rank 0 takes it and tells the others, who map it; there are so many of them on a node
///                (transport/shm/node.hpp), and a communicator may have to do without, also where somebody has
///                no address space left for it.
/// Halves         consecutive uses take turns. Who begins with one has seen the end of the use before,
///                which nobody ends before he has done with the one before that: so nobody waits for
///                the others to leave.
/// Thread safety  that of blocking collectives: one at a time on a communicator.

#include <cstdint>

#include "coll/schedule.hpp"
#include "core/thread.hpp"
#include "transport/shm/node.hpp"

namespace heddle::coll {

inline constexpr std::uint64_t half_stage_bytes = transport::shm::stage_bytes / 2;

/// Whether the call is one that goes by stage; the same in every process.
bool wants_stage(const Schedule& schedule, std::uint64_t count) noexcept;

/// Sets schedule.stage, having agreed on one if need be.
int find_stage(core::Thread& thread, Schedule& schedule);

/// The half whose turn it is.
std::byte* next_half(Schedule& schedule) noexcept;

}  // namespace heddle::coll
