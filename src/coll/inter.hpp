// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The collective operations on an intercommunicator (MPI 5.0, 6.2.2). The contribution of one
/// group is the result of the other group. This holds for operations of all ranks as well as for
/// those with a root.
///
/// Operations that combine or spread the same data do so within a group, by the algorithms for
/// intracommunicators. The data cross over once. Individual blocks go straight to their
/// destination.
///
/// `root`         MPI_ROOT at the root, MPI_PROC_NULL elsewhere in its group, its rank in the
///                other.

#include <span>

#include "coll/algorithms.hpp"

namespace heddle::coll::inter {

void barrier(Schedule& schedule);
void bcast(Schedule& schedule, std::byte* data, std::uint64_t bytes, std::int32_t root);
void gather(Schedule& schedule, Block mine, const Blocks& all, std::int32_t root);
void scatter(Schedule& schedule, const Blocks& all, Block mine, std::int32_t root);
/// Gives `mine` to every rank of the other group.
void allgather(Schedule& schedule, Block mine, const Blocks& all);
void alltoall(Schedule& schedule, const Blocks& out, const Blocks& in);
void reduce(Schedule& schedule, const std::byte* in, std::byte* out, std::uint64_t count,
            std::int32_t root);
void allreduce(Schedule& schedule, const std::byte* in, std::byte* out, std::uint64_t count);
/// `starts` is of this group and has the beginnings of its results. The other group gives the same
/// number of elements in all.
void reduce_scatter(Schedule& schedule, const std::byte* in, std::byte* out,
                    std::span<const std::uint64_t> starts);

}  // namespace heddle::coll::inter
