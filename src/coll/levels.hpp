// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Collectives in levels: within each node, and between nodes by one rank of each, its lead. The
/// root leads its node, the first rank each other node.
///
/// Within a node  blocking calls use scratch memory of its ranks (shared_scratch.hpp). Other calls,
///                and nodes without it, use messages.
/// Between nodes  leads send to leads, by any algorithm. Ranks of the schedule are nodes there
///                (Schedule::among()). Long data have more senders. Carriers have a share of each
///                operand or piece (exchanged.cpp, LongBcast). In an allgather each rank sends its
///                own block. In the longest reductions pieces go from rank to rank
///                (accumulated.cpp).
/// Bits           a reduction gives what it gives without levels, whatever the mapping of ranks.
///                Leads and carriers gather the operands. They combine them in the order that the
///                call would have without levels (order_of()). Operands that give the same in any
///                order are combined on each node first.

#include <cstddef>
#include <cstdint>

#include "coll/select.hpp"

namespace heddle::objects {
struct Nodes;
}
namespace heddle::coll {

class Schedule;

/// Returns whether the communicator of such a call has levels that the call may use. The result is
/// the same in every process. `bytes` is as in Call. Throws std::bad_alloc.
bool may_go_in_levels(const Schedule& schedule, const Call& call);
/// Returns the same for a communicator whose levels are known.
bool fits_levels(const Schedule& schedule, const objects::Nodes& nodes, const Call& call);

void levels_barrier(Schedule& schedule);
void levels_bcast(Schedule& schedule, std::byte* data, std::uint64_t bytes, std::int32_t root);
void levels_reduce(Schedule& schedule, const std::byte* in, std::byte* out, std::uint64_t count,
                   std::int32_t root);
void levels_allreduce(Schedule& schedule, const std::byte* in, std::byte* out, std::uint64_t count);
/// Blocks are equal here and in the functions below.
void levels_gather(Schedule& schedule, Block mine, const Blocks& all, std::int32_t root);
void levels_scatter(Schedule& schedule, const Blocks& all, Block mine, std::int32_t root);
/// The block of this process need not be in its place in `all` yet.
void levels_allgather(Schedule& schedule, Block mine, const Blocks& all);
/// Blocks may differ. That of this process is in its place.
void levels_allgatherv(Schedule& schedule, const Blocks& all);
/// Long blocks go from each rank to each other one at once. `out` may be `in`: in place.
void levels_alltoall(Schedule& schedule, const Blocks& out, const Blocks& in, bool in_place);

}  // namespace heddle::coll
