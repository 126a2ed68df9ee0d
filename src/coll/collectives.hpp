// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The collective operations on an intracommunicator: each selects an algorithm for the call and
/// makes it write the schedule. Arguments have been checked; bytes lie densely.
///
/// `in` equal to `out` is MPI_IN_PLACE. Reductions combine schedule.reduction, set before.

#include <span>

#include "coll/algorithms.hpp"
#include "coll/select.hpp"

namespace heddle::coll {

/// Returns the needs of algorithms that such a call meets. call.has gives those that its operation
/// meets.
Needs needs_met(const Schedule& schedule, const Call& call);
/// Returns the algorithm that the call takes. Its communicator may agree on scratch memory for it.
/// `bytes` is as in Call. `operation` says whether operands may change places. Throws
/// std::bad_alloc.
const Algorithm& choose(const Schedule& schedule, Collective what, std::uint64_t bytes,
                        Needs operation);

void barrier(Schedule& schedule);
void bcast(Schedule& schedule, std::byte* data, std::uint64_t bytes, std::int32_t root);

/// `out` counts at the root only.
void reduce(Schedule& schedule, const std::byte* in, std::byte* out, std::uint64_t count,
            std::int32_t root);
void allreduce(Schedule& schedule, const std::byte* in, std::byte* out, std::uint64_t count);
void scan(Schedule& schedule, const std::byte* in, std::byte* out, std::uint64_t count);
void exscan(Schedule& schedule, const std::byte* in, std::byte* out, std::uint64_t count);
/// `starts` is as in direct_reduce_scatter(). `what` says whether the pieces are of one size.
void reduce_scatter(Schedule& schedule, Collective what, const std::byte* in, std::byte* out,
                    std::span<const std::uint64_t> starts);

/// Regular blocks are those of the equal-sized operation, others those of its v form. `mine` is the
/// block of this process, possibly in its place in `all`. `all` counts at the root only. `what`
/// says which of the two forms it is, which processes other than the root cannot see from the
/// blocks.
void gather(Schedule& schedule, Collective what, Block mine, const Blocks& all, std::int32_t root);
void scatter(Schedule& schedule, Collective what, const Blocks& all, Block mine, std::int32_t root);
void allgather(Schedule& schedule, Block mine, const Blocks& all);
/// `in_place` says that `out` is the same as `in`.
void alltoall(Schedule& schedule, Collective what, const Blocks& out, const Blocks& in,
              bool in_place);

}  // namespace heddle::coll
