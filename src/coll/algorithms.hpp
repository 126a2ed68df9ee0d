// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The algorithms: each writes the actions of one process into the schedule of that process. The
/// comment on a function describes its algorithm.
///
/// An algorithm with a family of its own lies in the file named after the family. The rows and
/// lines of select.cpp decide which algorithm a call takes.
///
/// Buffers        of the user are named in and out. `in` is only read. It is equal to `out` if the
///                user passed MPI_IN_PLACE.
/// Order          reductions combine operands in the order of ranks. One, binomial_reduce(), starts
///                at the root and goes around: it is for commutative operations.

#include <cstddef>
#include <cstdint>
#include <span>

#include "coll/blocks.hpp"
#include "coll/schedule.hpp"

namespace heddle::coll {

enum class CombinationOrder : std::uint8_t;  // combination_order.hpp

// shared.cpp: in memory that all ranks share (shared_scratch.hpp), for blocking calls

/// Every rank notes in a place of its own that it has come, and looks at the other places.
void shared_barrier(Schedule& schedule);
/// The root copies into its slots, and the others out of them.
/// `root_waits`: for other nodes, before it has the data.
void shared_bcast(Schedule& schedule, std::byte* data, std::uint64_t bytes, std::int32_t root,
                  bool root_waits = false);
/// The others copy their operands into slots, and the root combines the contents (fold.hpp).
void shared_reduce(Schedule& schedule, const std::byte* in, std::byte* out, std::uint64_t count,
                   std::int32_t root);
/// Every rank copies its operand into slots, and combines those of all. The order is that of
/// direct_allreduce().
void shared_allreduce(Schedule& schedule, const std::byte* in, std::byte* out, std::uint64_t count);
/// If there are two ranks, each combines half of the elements and gives the other the result. With
/// more ranks this is shared_allreduce().
void halved_allreduce(Schedule& schedule, const std::byte* in, std::byte* out, std::uint64_t count);
/// The block of this process need not be in its place in `all` yet.
void shared_allgather(Schedule& schedule, Block mine, const Blocks& all);
/// The same with blocks of any sizes, which all ranks know. Each has its own in its place.
void shared_allgatherv(Schedule& schedule, const Blocks& all);
/// All blocks move at once if they fit into a slot, otherwise in rounds as in pairwise_alltoall().
/// `out` may be `in`: in place.
void shared_alltoall(Schedule& schedule, const Blocks& out, const Blocks& in, bool in_place);

// barrier.cpp

/// One round, in which every rank signals every other. If ranks share cores, a round costs more
/// than its messages, since each needs every rank to run.
void direct_barrier(Schedule& schedule);
/// ceil(log2 p) rounds; in round k every rank signals the rank 2^k above (Hensgen, Finkel, Manber
/// 1988).
void dissemination_barrier(Schedule& schedule);

// bcast.cpp

void binomial_bcast(Schedule& schedule, std::byte* data, std::uint64_t bytes, std::int32_t root);
/// The root deals pieces out, and all pass them around a ring: no rank sends everything twice.
void scatter_ring_bcast(Schedule& schedule, std::byte* data, std::uint64_t bytes,
                        std::int32_t root);

// reduce.cpp

/// Every rank sends to the root, which combines the operands in the order of shared_reduce().
void direct_reduce(Schedule& schedule, const std::byte* in, std::byte* out, std::uint64_t count,
                   std::int32_t root);
/// A tree with the root on top, which turns ranks around: for commutative operations.
void binomial_reduce(Schedule& schedule, const std::byte* in, std::byte* out, std::uint64_t count,
                     std::int32_t root);
/// A tree with rank 0 on top, which sends the result to the root.
void ordered_reduce(Schedule& schedule, const std::byte* in, std::byte* out, std::uint64_t count,
                    std::int32_t root);
/// direct_reduce_scatter(), after which the pieces go to the root.
void scattered_reduce(Schedule& schedule, const std::byte* in, std::byte* out, std::uint64_t count,
                      std::int32_t root);

// allreduce.cpp

/// One round: every rank sends its operand to every other, and all combine all of them.
void direct_allreduce(Schedule& schedule, const std::byte* in, std::byte* out, std::uint64_t count);
/// Pairs at distance 1, 2, 4, ... exchange their results so far. Ranks above a power of two hand
/// their operands to a neighbour first.
void doubling_allreduce(Schedule& schedule, const std::byte* in, std::byte* out,
                        std::uint64_t count);
/// direct_reduce_scatter(), after which every rank gives its piece to every other.
void scattered_allreduce(Schedule& schedule, const std::byte* in, std::byte* out,
                         std::uint64_t count);

// accumulated.cpp

/// Each piece of the result grows in one place, where every rank in turn adds its operand. Each
/// piece begins with another rank. Then every rank copies all of the result. The place is in memory
/// that all share (shared_scratch.hpp), so that only its owner reads an operand, once. For
/// commutative operations.
void accumulated_allreduce(Schedule& schedule, const std::byte* in, std::byte* out,
                           std::uint64_t count);
/// The same in the same order, without shared memory: the pieces travel.
void travelling_allreduce(Schedule& schedule, const std::byte* in, std::byte* out,
                          std::uint64_t count);
/// The same for the root alone.
void accumulated_reduce(Schedule& schedule, const std::byte* in, std::byte* out,
                        std::uint64_t count, std::int32_t root);
void travelling_reduce(Schedule& schedule, const std::byte* in, std::byte* out, std::uint64_t count,
                       std::int32_t root);
/// The same in the same order, on several nodes (levels.hpp): the pieces grow in memory of each
/// node, and travel between nodes.
void relayed_allreduce(Schedule& schedule, const std::byte* in, std::byte* out,
                       std::uint64_t count);
void relayed_reduce(Schedule& schedule, const std::byte* in, std::byte* out, std::uint64_t count,
                    std::int32_t root);

// exchanged.cpp

/// Some ranks of a node, the carriers, have a share of the elements each. They get this share of
/// the operands of all ranks, and combine them in any order. For blocking calls.
void exchanged_allreduce(Schedule& schedule, const std::byte* in, std::byte* out,
                         std::uint64_t count, CombinationOrder order);
void exchanged_reduce(Schedule& schedule, const std::byte* in, std::byte* out, std::uint64_t count,
                      std::int32_t root, CombinationOrder order);

// reduce_scatter.cpp

/// Every rank gets the operands of its piece from every other, and combines them. `starts` has the
/// first element of each piece, and the end of the last one. The result goes to `result`. This may
/// be the start of `in` or the piece itself if `reuse` says that they overlap. Memory outside of
/// the result stays as it is.
void direct_reduce_scatter(Schedule& schedule, const std::byte* in, std::byte* result,
                           std::span<const std::uint64_t> starts, bool reuse);
/// Returns pieces of equal size, but for a remainder.
std::span<const std::uint64_t> even_pieces(Schedule& schedule, std::uint64_t count);

// gather.cpp

/// The root receives from all. `mine` is the block of this process.
void direct_gather(Schedule& schedule, Block mine, const Blocks& all, std::int32_t root);
/// Equal blocks: a tree, in which all blocks below a process go up as one message.
void binomial_gather(Schedule& schedule, Block mine, const Blocks& all, std::int32_t root);

// scatter.cpp

void direct_scatter(Schedule& schedule, const Blocks& all, Block mine, std::int32_t root);
void binomial_scatter(Schedule& schedule, const Blocks& all, Block mine, std::int32_t root);

// allgather.cpp: the block of this process is in its place in `all`

/// Every rank sends to every other.
void direct_allgather(Schedule& schedule, const Blocks& all);
/// p - 1 rounds, each between neighbours. `complete` is a process that has everything already.
void ring_allgather(Schedule& schedule, const Blocks& all, std::int32_t complete = -1);
/// Equal blocks, ceil(log2 p) rounds. Each round passes on all blocks that have been gathered
/// (Bruck, Ho, Kipnis, Upfal, Weathersby 1997).
void bruck_allgather(Schedule& schedule, const Blocks& all);

// alltoall.cpp

/// All messages at once.
void direct_alltoall(Schedule& schedule, const Blocks& out, const Blocks& in);
/// p - 1 rounds; in each, every rank sends to one and receives from one.
void pairwise_alltoall(Schedule& schedule, const Blocks& out, const Blocks& in);
/// Copies the blocks that go to other ranks, for exchanges in place.
Blocks copied(Schedule& schedule, const Blocks& blocks);

// scan.cpp

/// Ranks at distance 1, 2, 4, ... exchange the combination of their neighbourhoods.
void doubling_scan(Schedule& schedule, const std::byte* in, std::byte* out, std::uint64_t count);
void doubling_exscan(Schedule& schedule, const std::byte* in, std::byte* out, std::uint64_t count);

}  // namespace heddle::coll
