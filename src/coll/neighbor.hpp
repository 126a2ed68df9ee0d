// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Neighbourhood collectives (MPI 5.0, 8.6): a message along each edge of the topology.
///
/// Blocks are by edge, in the order of topo::Neighbours; those of edges to MPI_PROC_NULL are not
/// touched. A process may be its own neighbour, and one neighbour may be there several times. The
/// order of messages decides which edge each belongs to (Neighbours::receive_order).

#include "coll/blocks.hpp"
#include "coll/schedule.hpp"
#include "topo/neighbours.hpp"

namespace heddle::coll {

/// Sends the same block to all destinations.
void neighbor_allgather(Schedule& schedule, const topo::Neighbours& edges, Block mine,
                        const Blocks& in);
void neighbor_alltoall(Schedule& schedule, const topo::Neighbours& edges, const Blocks& out,
                       const Blocks& in);

}  // namespace heddle::coll
