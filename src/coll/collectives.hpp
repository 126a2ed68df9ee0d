// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The collective operations on an intracommunicator: each selects an algorithm for the call and
/// has it write the schedule. Arguments have been checked; bytes lie densely.
///
/// `in` equal to `out` is MPI_IN_PLACE. Reductions combine schedule.reduction, set before.

#include <span>

#include "coll/algorithms.hpp"
#include "coll/select.hpp"

namespace heddle::coll {

/// What algorithms may need of such a call, beside what call.has says of its operation.
Needs needs_met(const Schedule& schedule, const Call& call);
/// The algorithm that the call takes; its communicator may agree on scratch memory for it. `bytes`: see Call. `operation`:
/// whether operands may change places. Throws std::bad_alloc.
const Algorithm& choose(const Schedule& schedule, Collective what, std::uint64_t bytes,
                        Needs operation);

void barrier(Schedule& schedule);
void bcast(Schedule& schedule, std::byte* data, std::uint64_t bytes, std::int32_t root);

/// `out` at the root only.
void reduce(Schedule& schedule, const std::byte* in, std::byte* out, std::uint64_t count,
            std::int32_t root);
void allreduce(Schedule& schedule, const std::byte* in, std::byte* out, std::uint64_t count);
void scan(Schedule& schedule, const std::byte* in, std::byte* out, std::uint64_t count);
void exscan(Schedule& schedule, const std::byte* in, std::byte* out, std::uint64_t count);
/// `starts`: as of direct_reduce_scatter(). `what`: whether the pieces are of one size.
void reduce_scatter(Schedule& schedule, Collective what, const std::byte* in, std::byte* out,
                    std::span<const std::uint64_t> starts);

/// Regular blocks are those of the equal-sized operation, others those of its v form.
/// `mine` is where this process has its block, possibly in its place in `all`; `all` at the root only.
/// `what`: which of the two, which processes other than the root cannot tell by the blocks.
void gather(Schedule& schedule, Collective what, Block mine, const Blocks& all, std::int32_t root);
void scatter(Schedule& schedule, Collective what, const Blocks& all, Block mine, std::int32_t root);
void allgather(Schedule& schedule, Block mine, const Blocks& all);
/// `in_place`: `out` is the same as `in`.
void alltoall(Schedule& schedule, Collective what, const Blocks& out, const Blocks& in,
              bool in_place);

}  // namespace heddle::coll
