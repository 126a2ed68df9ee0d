// SPDX-License-Identifier: BSD-3-Clause
#include "coll/neighbor.hpp"

#include "mpi.h"

namespace heddle::coll {
namespace {

void receive_all(Schedule& schedule, const topo::Neighbours& edges, const Blocks& in) {
    for (std::size_t i = 0; i < edges.sources.size(); ++i) {
        const std::size_t edge = edges.receive_order(i);
        if (edges.sources[edge] == MPI_PROC_NULL) continue;
        const Block block = in[static_cast<std::int32_t>(edge)];
        schedule.receive(block.data, block.bytes, edges.sources[edge]);
    }
}

/// Sends all blocks. Empty ones, too: a process that expects one waits for a message.
template <class BlockOf>
void send_all(Schedule& schedule, const topo::Neighbours& edges, BlockOf&& block_of) {
    for (std::size_t edge = 0; edge < edges.destinations.size(); ++edge) {
        if (edges.destinations[edge] == MPI_PROC_NULL) continue;
        const Block block = block_of(static_cast<std::int32_t>(edge));
        schedule.send(block.data, block.bytes, edges.destinations[edge]);
    }
}

}  // namespace

void neighbor_allgather(Schedule& schedule, const topo::Neighbours& edges, Block mine,
                        const Blocks& in) {
    receive_all(schedule, edges, in);
    send_all(schedule, edges, [&](std::int32_t) { return mine; });
}

void neighbor_alltoall(Schedule& schedule, const topo::Neighbours& edges, const Blocks& out,
                       const Blocks& in) {
    receive_all(schedule, edges, in);
    send_all(schedule, edges, [&](std::int32_t edge) { return out[edge]; });
}

}  // namespace heddle::coll
