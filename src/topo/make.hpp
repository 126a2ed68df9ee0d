// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Makes communicators with a topology (MPI 5.0, 8.5). All processes of the parent call. Processes
/// that take no part get MPI_COMM_NULL. Arguments have been checked; errors are raised.

#include <cstdint>
#include <span>

#include "core/thread.hpp"
#include "objects/communicator.hpp"
#include "topo/topology.hpp"

namespace heddle::topo {

/// Makes one of the first ranks of the parent, as many as the grid has places.
int make_cart(core::Thread& thread, objects::Communicator& parent, const Cart& cart, bool reorder,
              MPI_Comm& made);
/// Makes one of the first ranks of the parent, as many as the graph has nodes.
int make_graph(core::Thread& thread, objects::Communicator& parent, const Graph& graph,
               bool reorder, MPI_Comm& made);

/// The edges of the calling rank. Both ends of an edge know it.
struct Adjacency {
    Neighbours neighbours;
    DistGraph weights;
};
int make_dist_graph(core::Thread& thread, objects::Communicator& parent, const Adjacency& mine,
                    bool reorder, MPI_Comm& made);

/// An edge of a distributed graph, which any process may give.
struct Edge {
    std::int32_t source;
    std::int32_t destination;
    std::int32_t weight;
};
/// Tells the ends of edges about them. Each end then has its edges by the rank that gave them, in
/// that rank's order. So both ends of several edges agree on which is which.
int gather_edges(core::Thread& thread, objects::Communicator& parent, std::span<const Edge> given,
                 bool weighted, Adjacency& mine);

/// Makes the caller's part of a grid: the ranks that differ from it only in the dimensions that
/// remain.
int make_subgrid(core::Thread& thread, objects::Communicator& parent, const Cart& cart,
                 const int* remain, MPI_Comm& made);

}  // namespace heddle::topo
