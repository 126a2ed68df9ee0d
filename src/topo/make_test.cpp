// SPDX-License-Identifier: BSD-3-Clause
/// Topologies that may reorder processes, on nodes in one address space: neighbours come to the
/// same node.

#include <gtest/gtest.h>

#include <vector>

#include "mpi.h"
#include "testing/job.hpp"

namespace heddle::topo {
namespace {

constexpr int ranks = 8;

/// Consecutive ranks are on different nodes.
int node_of(int world_rank) { return world_rank % 2; }

/// Returns how many neighbours on the line are on different nodes.
int cuts(MPI_Comm line) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int mine = node_of(rank);
    std::vector<int> all(ranks, -1);
    MPI_Allgather(&mine, 1, MPI_INT, all.data(), 1, MPI_INT, line);
    int count = 0;
    for (std::size_t i = 1; i < ranks; ++i) count += all[i] != all[i - 1];
    return count;
}

MPI_Comm grid(int reorder) {
    const int dims[] = {ranks}, periods[] = {0};
    MPI_Comm line = MPI_COMM_NULL;
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, reorder, &line);
    return line;
}

/// Makes a graph with an edge from each rank to the next one.
MPI_Comm graph(int reorder) {
    std::vector<int> index, edges;
    for (int rank = 0; rank < ranks; ++rank) {
        if (rank > 0) edges.push_back(rank - 1);
        if (rank + 1 < ranks) edges.push_back(rank + 1);
        index.push_back(static_cast<int>(edges.size()));
    }
    MPI_Comm line = MPI_COMM_NULL;
    MPI_Graph_create(MPI_COMM_WORLD, ranks, index.data(), edges.data(), reorder, &line);
    return line;
}

MPI_Comm distributed(int reorder) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int degrees[] = {rank + 1 < ranks ? 1 : 0}, next[] = {rank + 1};
    MPI_Comm line = MPI_COMM_NULL;
    MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, degrees, next, MPI_UNWEIGHTED, MPI_INFO_NULL,
                          reorder, &line);
    return line;
}

TEST(TopologiesOnNodes, neighbours_come_to_the_same_node_where_reorder_is_allowed) {
    launch::NodeMap in_turn;
    for (int rank = 0; rank < ranks; ++rank) in_turn.push_back(node_of(rank));
    testing::run_job({.nodes = in_turn}, [](int, int) {
        for (const auto make : {grid, graph, distributed}) {
            MPI_Comm as_it_is = make(0), reordered = make(1);
            EXPECT_EQ(cuts(as_it_is), ranks - 1);
            EXPECT_EQ(cuts(reordered), 1);
            MPI_Comm_free(&as_it_is);
            MPI_Comm_free(&reordered);
        }
    });
}

}  // namespace
}  // namespace heddle::topo
