// SPDX-License-Identifier: BSD-3-Clause
/// Graph topologies (MPI 5.0, 8.5.3 and 8.5.4). Every rank makes the same random graphs from a
/// seed. The library's answers are compared with them.
#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <tuple>
#include <vector>

extern "C" {
#include "check.h"
}

namespace {

int rank, size;
using List = std::vector<int>;

int kind(MPI_Comm comm) {
    int status = -1;
    OK(MPI_Topo_test(comm, &status));
    return status;
}

void graphs(unsigned seed) {
    std::mt19937 random(seed);
    const int nodes = 1 + static_cast<int>(random() % static_cast<unsigned>(size));
    std::vector<List> neighbours(static_cast<std::size_t>(nodes));
    List ends, edges;
    for (List& list : neighbours) {
        for (unsigned i = random() % 5; i > 0; --i)
            list.push_back(static_cast<int>(random() % static_cast<unsigned>(nodes)));
        edges.insert(edges.end(), list.begin(), list.end());
        ends.push_back(static_cast<int>(edges.size()));
    }
    MPI_Comm graph, copy;
    OK(MPI_Graph_create(MPI_COMM_WORLD, nodes, ends.data(), edges.data(), seed % 2, &graph));
    CHECK((graph == MPI_COMM_NULL) == (rank >= nodes));
    int place = -1;
    OK(MPI_Graph_map(MPI_COMM_WORLD, nodes, ends.data(), edges.data(), &place));
    CHECK(place == (rank < nodes ? rank : MPI_UNDEFINED));
    if (graph == MPI_COMM_NULL) return;
    OK(MPI_Comm_dup(graph, &copy));
    OK(MPI_Comm_free(&graph));
    CHECK(kind(copy) == MPI_GRAPH);
    int got_nodes, got_edges;
    OK(MPI_Graphdims_get(copy, &got_nodes, &got_edges));
    CHECK(got_nodes == nodes && got_edges == static_cast<int>(edges.size()));
    List got_ends(ends.size() + 1, -7), got(edges.size() + 1, -7);
    OK(MPI_Graph_get(copy, nodes + 1, got_edges + 1, got_ends.data(), got.data()));
    CHECK(std::equal(ends.begin(), ends.end(), got_ends.begin()) && got_ends.back() == -7);
    CHECK(std::equal(edges.begin(), edges.end(), got.begin()) && got.back() == -7);
    for (int node = 0; node < nodes; ++node) {
        const List& expected = neighbours[static_cast<std::size_t>(node)];
        int count = -1;
        OK(MPI_Graph_neighbors_count(copy, node, &count));
        CHECK(count == static_cast<int>(expected.size()));
        List list(expected.size() + 1, -7);
        OK(MPI_Graph_neighbors(copy, node, count, list.data()));
        CHECK(std::equal(expected.begin(), expected.end(), list.begin()) && list.back() == -7);
    }
    OK(MPI_Comm_free(&copy));
}

struct Edge {
    int source, destination, weight;
    bool operator<(const Edge& other) const {
        return std::tie(source, destination, weight) <
            std::tie(other.source, other.destination, other.weight);
    }
    bool operator==(const Edge& other) const {
        return std::tie(source, destination, weight) ==
            std::tie(other.source, other.destination, other.weight);
    }
};

/// Returns the edges that come to or leave this process, as the communicator says.
std::array<std::vector<Edge>, 2> edges_of(MPI_Comm graph, bool weighted) {
    int in, out, has_weights = -1;
    OK(MPI_Dist_graph_neighbors_count(graph, &in, &out, &has_weights));
    CHECK((has_weights != 0) == weighted);
    const auto n_in = static_cast<std::size_t>(in), n_out = static_cast<std::size_t>(out);
    List sources(n_in + 1, -7), source_weights(n_in + 1, -7);
    List destinations(n_out + 1, -7), destination_weights(n_out + 1, -7);
    OK(MPI_Dist_graph_neighbors(
        graph, in, sources.data(), weighted ? source_weights.data() : MPI_UNWEIGHTED, out,
        destinations.data(), weighted ? destination_weights.data() : MPI_UNWEIGHTED));
    CHECK(sources.back() == -7 && destinations.back() == -7);
    CHECK(source_weights.back() == -7 && destination_weights.back() == -7);
    std::array<std::vector<Edge>, 2> edges;
    for (std::size_t i = 0; i < n_in; ++i)
        edges[0].push_back({sources[i], rank, weighted ? source_weights[i] : 1});
    for (std::size_t i = 0; i < n_out; ++i)
        edges[1].push_back({rank, destinations[i], weighted ? destination_weights[i] : 1});
    return edges;
}

/// Several edges between two processes have the same order at both ends: the weights tell.
void same_at_both_ends(const std::array<std::vector<Edge>, 2>& mine, MPI_Comm graph) {
    std::vector<MPI_Request> requests;
    std::vector<int> got(mine[0].size(), -1);
    for (std::size_t i = 0; i < mine[0].size(); ++i)
        OK(MPI_Irecv(&got[i], 1, MPI_INT, mine[0][i].source, 0, graph, &requests.emplace_back()));
    for (const Edge& edge : mine[1])
        OK(MPI_Isend(&edge.weight, 1, MPI_INT, edge.destination, 0, graph,
                     &requests.emplace_back()));
    OK(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE));
    for (std::size_t i = 0; i < mine[0].size(); ++i) CHECK(got[i] == mine[0][i].weight);
}

void distributed(unsigned seed) {
    std::mt19937 random(seed);
    const bool weighted = seed % 3 != 0;
    const auto any_rank = [&] { return static_cast<int>(random() % static_cast<unsigned>(size)); };
    // Every rank draws all edges, and the rank that gives each to the library.
    std::vector<Edge> all, given;
    for (unsigned i = random() % (6 * static_cast<unsigned>(size)); i > 0; --i) {
        all.push_back({any_rank(), any_rank(), weighted ? static_cast<int>(random() % 100) : 1});
        if (any_rank() == rank) given.push_back(all.back());
    }
    List sources, degrees, destinations, weights;
    for (const Edge& edge : given) {
        if (sources.empty() || sources.back() != edge.source) {
            sources.push_back(edge.source);
            degrees.push_back(0);
        }
        ++degrees.back();
        destinations.push_back(edge.destination);
        weights.push_back(edge.weight);
    }
    MPI_Comm graph, copy;
    OK(MPI_Dist_graph_create(MPI_COMM_WORLD, static_cast<int>(sources.size()), sources.data(),
                             degrees.data(), destinations.data(),
                             !weighted           ? MPI_UNWEIGHTED
                                 : given.empty() ? MPI_WEIGHTS_EMPTY
                                                 : weights.data(),
                             MPI_INFO_NULL, 0, &graph));
    OK(MPI_Comm_dup(graph, &copy));
    CHECK(kind(graph) == MPI_DIST_GRAPH && kind(copy) == MPI_DIST_GRAPH);
    auto mine = edges_of(graph, weighted);
    CHECK(mine == edges_of(copy, weighted)); /* in the same order */
    same_at_both_ends(mine, graph);
    OK(MPI_Comm_free(&graph));

    /* The graph is made again, each process giving its own edges. */
    sources.clear(), destinations.clear();
    List source_weights, destination_weights;
    for (const Edge& edge : mine[0])
        sources.push_back(edge.source), source_weights.push_back(edge.weight);
    for (const Edge& edge : mine[1])
        destinations.push_back(edge.destination), destination_weights.push_back(edge.weight);
    OK(MPI_Dist_graph_create_adjacent(copy, static_cast<int>(sources.size()), sources.data(),
                                      weighted ? source_weights.data() : MPI_UNWEIGHTED,
                                      static_cast<int>(destinations.size()), destinations.data(),
                                      weighted ? destination_weights.data() : MPI_UNWEIGHTED,
                                      MPI_INFO_NULL, 0, &graph));
    CHECK(mine == edges_of(graph, weighted));
    OK(MPI_Comm_free(&graph));
    OK(MPI_Comm_free(&copy));

    std::vector<Edge> expected_in, expected_out;
    for (const Edge& edge : all) {
        if (edge.destination == rank) expected_in.push_back(edge);
        if (edge.source == rank) expected_out.push_back(edge);
    }
    for (auto* list : {&mine[0], &mine[1], &expected_in, &expected_out})
        std::sort(list->begin(), list->end());
    CHECK(mine[0] == expected_in);
    CHECK(mine[1] == expected_out);
}

void no_edges() {
    MPI_Comm graph;
    int in = -1, out = -1, weighted = -1;
    OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, nullptr, MPI_WEIGHTS_EMPTY, 0, nullptr,
                                      MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 1, &graph));
    OK(MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted));
    CHECK(in == 0 && out == 0 && weighted != 0);
    OK(MPI_Dist_graph_neighbors(graph, 0, nullptr, MPI_WEIGHTS_EMPTY, 0, nullptr, MPI_UNWEIGHTED));
    OK(MPI_Comm_free(&graph));
    OK(MPI_Dist_graph_create(MPI_COMM_WORLD, 0, nullptr, nullptr, nullptr, MPI_UNWEIGHTED,
                             MPI_INFO_NULL, 0, &graph));
    OK(MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted));
    CHECK(in == 0 && out == 0 && weighted == 0);
    OK(MPI_Comm_free(&graph));
    OK(MPI_Graph_create(MPI_COMM_WORLD, 0, nullptr, nullptr, 0, &graph));
    CHECK(graph == MPI_COMM_NULL);
}

/// If there are more edges than room, the first ones are returned.
void first_part() {
    const int ranks[3] = {0, 0, 0}, weights[3] = {5, 6, 7};
    int sources[2] = {-7, -7}, source_weights[2] = {-7, -7}, destinations[1] = {-7};
    MPI_Comm graph;
    OK(MPI_Dist_graph_create_adjacent(MPI_COMM_SELF, 3, ranks, weights, 3, ranks, weights,
                                      MPI_INFO_NULL, 0, &graph));
    OK(MPI_Dist_graph_neighbors(graph, 1, sources, source_weights, 0, destinations,
                                MPI_UNWEIGHTED));
    CHECK(sources[0] == 0 && sources[1] == -7 && source_weights[0] == 5 && source_weights[1] == -7);
    CHECK(destinations[0] == -7);
    FAILS(MPI_Dist_graph_neighbors(graph, -1, sources, source_weights, 0, destinations,
                                   MPI_UNWEIGHTED),
          MPI_ERR_ARG);
    FAILS(MPI_Dist_graph_neighbors(graph, 1, nullptr, source_weights, 0, destinations,
                                   MPI_UNWEIGHTED),
          MPI_ERR_ARG);
    FAILS(MPI_Dist_graph_neighbors(graph, 1, sources, nullptr, 0, destinations, MPI_UNWEIGHTED),
          MPI_ERR_ARG);
    FAILS(MPI_Dist_graph_neighbors_count(graph, sources, nullptr, destinations), MPI_ERR_ARG);
    FAILS(MPI_Cart_get(graph, 1, sources, sources, sources), MPI_ERR_TOPOLOGY);
    OK(MPI_Comm_free(&graph));
}

void wrong() {
    MPI_Comm made = MPI_COMM_WORLD;
    const int ends[2] = {1, 0}, ones[2] = {1, 1}, edges[1] = {size}, zero[1] = {0},
              negative[1] = {-1};
    const int proc_null[1] = {MPI_PROC_NULL};
    FAILS(MPI_Graph_create(MPI_COMM_WORLD, size + 1, ends, edges, 0, &made), MPI_ERR_ARG);
    CHECK(made == MPI_COMM_NULL);
    FAILS(MPI_Graph_create(MPI_COMM_WORLD, -1, ends, edges, 0, &made), MPI_ERR_ARG);
    FAILS(MPI_Graph_create(MPI_COMM_SELF, 1, nullptr, edges, 0, &made), MPI_ERR_ARG);
    FAILS(MPI_Graph_create(MPI_COMM_SELF, 1, ones, nullptr, 0, &made), MPI_ERR_ARG);
    FAILS(MPI_Graph_create(MPI_COMM_SELF, 1, ones, edges, 0, &made), MPI_ERR_RANK);
    FAILS(MPI_Graph_create(MPI_COMM_SELF, 1, negative, edges, 0, &made), MPI_ERR_ARG);
    if (size > 1) FAILS(MPI_Graph_create(MPI_COMM_WORLD, 2, ends, zero, 0, &made), MPI_ERR_ARG);
    FAILS(MPI_Graph_create(MPI_COMM_SELF, 1, ones, zero, 0, nullptr), MPI_ERR_ARG);
    OK(MPI_Graph_create(MPI_COMM_SELF, 1, ones, zero, 0, &made));
    int number, other[1];
    FAILS(MPI_Graph_neighbors_count(made, 1, &number), MPI_ERR_RANK);
    FAILS(MPI_Graph_neighbors(made, -1, 1, other), MPI_ERR_RANK);
    FAILS(MPI_Graph_neighbors(made, 0, -1, other), MPI_ERR_ARG);
    FAILS(MPI_Graph_neighbors(made, 0, 1, nullptr), MPI_ERR_ARG);
    FAILS(MPI_Graph_get(made, 1, 1, nullptr, other), MPI_ERR_ARG);
    FAILS(MPI_Graph_get(made, 1, -1, other, other), MPI_ERR_ARG);
    FAILS(MPI_Graphdims_get(made, nullptr, &number), MPI_ERR_ARG);
    FAILS(MPI_Cartdim_get(made, &number), MPI_ERR_TOPOLOGY);
    OK(MPI_Comm_free(&made));

    const auto adjacent = [&](int in, const int* sources, const int* in_weights, int out,
                              const int* destinations, const int* out_weights, MPI_Info info) {
        return MPI_Dist_graph_create_adjacent(MPI_COMM_SELF, in, sources, in_weights, out,
                                              destinations, out_weights, info, 0, &made);
    };
    const MPI_Info none = MPI_INFO_NULL;
    FAILS(adjacent(-1, zero, MPI_UNWEIGHTED, 1, zero, MPI_UNWEIGHTED, none), MPI_ERR_ARG);
    FAILS(adjacent(1, nullptr, MPI_UNWEIGHTED, 1, zero, MPI_UNWEIGHTED, none), MPI_ERR_ARG);
    FAILS(adjacent(1, zero, MPI_UNWEIGHTED, 1, ones, MPI_UNWEIGHTED, none), MPI_ERR_RANK);
    FAILS(adjacent(1, proc_null, MPI_UNWEIGHTED, 1, zero, MPI_UNWEIGHTED, none), MPI_ERR_RANK);
    FAILS(adjacent(1, zero, negative, 1, zero, ones, none), MPI_ERR_ARG);
    FAILS(adjacent(1, zero, MPI_WEIGHTS_EMPTY, 1, zero, ones, none), MPI_ERR_ARG);
    FAILS(adjacent(1, zero, nullptr, 1, zero, ones, none), MPI_ERR_ARG);
    FAILS(adjacent(1, zero, ones, 1, zero, MPI_UNWEIGHTED, none), MPI_ERR_ARG);
    FAILS(adjacent(1, zero, ones, 1, zero, ones, reinterpret_cast<MPI_Info>(0x1234567)),
          MPI_ERR_INFO);
    const auto general = [&](int n, const int* sources, const int* degrees, const int* destinations,
                             const int* weights) {
        return MPI_Dist_graph_create(MPI_COMM_SELF, n, sources, degrees, destinations, weights,
                                     none, 0, &made);
    };
    FAILS(general(-1, zero, ones, zero, MPI_UNWEIGHTED), MPI_ERR_ARG);
    FAILS(general(1, ones, ones, zero, MPI_UNWEIGHTED), MPI_ERR_RANK);
    FAILS(general(1, zero, negative, zero, MPI_UNWEIGHTED), MPI_ERR_ARG);
    FAILS(general(1, zero, nullptr, zero, MPI_UNWEIGHTED), MPI_ERR_ARG);
    FAILS(general(1, zero, ones, ones, MPI_UNWEIGHTED), MPI_ERR_RANK);
    FAILS(general(1, zero, ones, zero, negative), MPI_ERR_ARG);
    FAILS(general(1, zero, ones, zero, MPI_WEIGHTS_EMPTY), MPI_ERR_ARG);
    CHECK(made == MPI_COMM_NULL);
}

}  // namespace

int main() {
    start(&rank, &size, MPI_THREAD_SINGLE);
    for (unsigned seed = 0; seed < 30; ++seed) graphs(seed);
    for (unsigned seed = 0; seed < 60; ++seed) distributed(seed);
    no_edges();
    first_part();
    wrong();
    MPI_Finalize();
    return 0;
}
