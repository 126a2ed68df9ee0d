// SPDX-License-Identifier: BSD-3-Clause
/// Topologies with `reorder` on a machine on which it matters. hwloc is told that every core is a
/// package of its own, and ranks are bound in turn. Neighbours must come to lie in one package. The
/// rank that has a place has the edges of that place.
#include <sched.h>

#include <cstdlib>
#include <string>
#include <vector>

extern "C" {
#include "check.h"
}

namespace {

int rank, size, package;

/// Binds the rank to one of the two first cores it may use. Returns false if there is only one.
bool bind_in_turn() {
    cpu_set_t allowed, one;
    CHECK(sched_getaffinity(0, sizeof allowed, &allowed) == 0);
    std::vector<int> cores;
    for (int core = 0; core < CPU_SETSIZE; ++core)
        if (CPU_ISSET(core, &allowed)) cores.push_back(core);
    if (cores.size() < 2) return false;
    package = rank % 2;
    CPU_ZERO(&one);
    CPU_SET(cores[static_cast<std::size_t>(package)], &one);
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
    // The machine that hwloc believes in, set before the first query.
    setenv("HWLOC_SYNTHETIC", ("package:" + std::to_string(cores[1] + 1) + " core:1 pu:1").c_str(),
           1);
    setenv("HWLOC_THISSYSTEM", "1", 1);
    return true;
}

/// Returns the number of places along the line that have a neighbour in another package.
int crossings(MPI_Comm line) {
    std::vector<int> packages(static_cast<std::size_t>(size));
    OK(MPI_Allgather(&package, 1, MPI_INT, packages.data(), 1, MPI_INT, line));
    int count = 0;
    for (std::size_t i = 1; i < packages.size(); ++i) count += packages[i] != packages[i - 1];
    return count;
}

bool moved(MPI_Comm comm) {
    int me, here, anybody;
    OK(MPI_Comm_rank(comm, &me));
    here = me != rank;
    OK(MPI_Allreduce(&here, &anybody, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD));
    return anybody != 0;
}

void line() {
    const int dims[1] = {size}, periods[1] = {0};
    MPI_Comm old_order, new_order;
    OK(MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &old_order));
    OK(MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 1, &new_order));
    CHECK(!moved(old_order));
    CHECK(crossings(old_order) == size - 1);
    CHECK(moved(new_order));
    CHECK(crossings(new_order) == 1);
    OK(MPI_Comm_free(&old_order));
    OK(MPI_Comm_free(&new_order));
}

/// Makes the line again, as graphs, with weights that name the edges.
void graphs() {
    std::vector<int> ends, edges, sources, weights;
    for (int node = 0; node < size; ++node) {
        for (const int other : {node - 1, node + 1}) {
            if (other < 0 || other >= size) continue;
            edges.push_back(other);
            if (node != rank) continue;
            sources.push_back(other);
            weights.push_back(1 + 10 * rank + 10 * other);
        }
        ends.push_back(static_cast<int>(edges.size()));
    }
    MPI_Comm graph;
    OK(MPI_Graph_create(MPI_COMM_WORLD, size, ends.data(), edges.data(), 1, &graph));
    CHECK(crossings(graph) == 1);
    OK(MPI_Comm_free(&graph));

    const int degree = static_cast<int>(sources.size());
    OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, degree, sources.data(), weights.data(),
                                      degree, sources.data(), weights.data(), MPI_INFO_NULL, 1,
                                      &graph));
    CHECK(moved(graph));
    CHECK(crossings(graph) == 1);
    int me, in, out, weighted;
    OK(MPI_Comm_rank(graph, &me));
    OK(MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted));
    CHECK(weighted && in == out && in == (me > 0) + (me < size - 1));
    std::vector<int> got(2), got_weights(2), to(2), to_weights(2);
    OK(MPI_Dist_graph_neighbors(graph, 2, got.data(), got_weights.data(), 2, to.data(),
                                to_weights.data()));
    for (std::size_t i = 0; i < static_cast<std::size_t>(in); ++i) {
        CHECK(got[i] == me - 1 || got[i] == me + 1);
        CHECK(got_weights[i] == 1 + 10 * me + 10 * got[i]);
        CHECK(to[i] == got[i] && to_weights[i] == got_weights[i]);
    }
    OK(MPI_Comm_free(&graph));
}

}  // namespace

int main() {
    start(&rank, &size, MPI_THREAD_SINGLE);
    const bool possible = bind_in_turn();
    if (possible) {
        line();
        graphs();
    }
    MPI_Finalize();
    return possible ? 0 : 77;
}
