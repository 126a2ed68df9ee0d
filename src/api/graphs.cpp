// SPDX-License-Identifier: BSD-3-Clause
/// Process topologies that are graphs (MPI 5.0, 8.5.3 and 8.5.4).

#include <algorithm>

#include "api/object_arguments.hpp"
#include "api/topology.hpp"
#include "topo/make.hpp"

namespace heddle::api {
namespace {

using core::Thread;
using topo::DistGraph;
using topo::Graph;

/// Writes as much of a list as there is room for.
int write_list(const std::vector<std::int32_t>& list, int room, int* place) noexcept {
    const auto count = std::min<std::ptrdiff_t>(room, std::ssize(list));
    if (count > 0) std::copy_n(list.begin(), count, place);
    return MPI_SUCCESS;
}

/// Checks that each of `count` entries is a rank below `ranks`.
int ranks_exist(const TopologyCall& call, const char* argument, const int* list, std::int64_t count,
                std::int32_t ranks) {
    if (const int error = call.present(argument, list, count)) return error;
    for (std::int64_t i = 0; i < count; ++i)
        if (list[i] < 0 || list[i] >= ranks)
            return call.fail(MPI_ERR_RANK,
                             std::string("argument ") + argument + ": " + std::to_string(list[i]) +
                                 " at index " + std::to_string(i) + " is not one of ranks 0 to " +
                                 std::to_string(ranks - 1));
    return MPI_SUCCESS;
}

// --- graphs that all ranks know ---

int read_graph(const TopologyCall& call, int nodes, const int* ends, const int* edges,
               Graph& graph) {
    if (const int error = call.intra()) return error;
    if (const int error = call.not_negative("nnodes", nodes)) return error;
    if (nodes > call.communicator.size())
        return call.fail(MPI_ERR_ARG,
                         "argument nnodes: " + std::to_string(nodes) + " in a communicator of " +
                             std::to_string(call.communicator.size()) + " processes");
    if (const int error = call.present("index", ends, nodes)) return error;
    for (int node = 0; node < nodes; ++node)
        if (ends[node] < (node == 0 ? 0 : ends[node - 1]))
            return call.fail(MPI_ERR_ARG,
                             "argument index: " + std::to_string(ends[node]) + " at index " +
                                 std::to_string(node) + " is less than what comes before");
    const int count = nodes == 0 ? 0 : ends[nodes - 1];
    if (const int error = ranks_exist(call, "edges", edges, count, nodes)) return error;
    if (nodes != 0) graph = {{ends, ends + nodes}, {edges, edges + count}};
    return MPI_SUCCESS;
}

int graph_create(Thread& thread, Comm comm, Raw<int> nodes, Array<const int> ends,
                 Array<const int> edges, Raw<int> reorder, Out<MPI_Comm> result) {
    *result = MPI_COMM_NULL;
    Graph graph;
    if (const int error = read_graph({thread, *comm}, nodes.value, ends.value, edges.value, graph))
        return error;
    return topo::make_graph(thread, *comm, graph, reorder.value != 0, *result);
}

/// Returns the old order, like MPI_Cart_map.
int graph_map(Thread& thread, Comm comm, Raw<int> nodes, Array<const int> ends,
              Array<const int> edges, Out<int> rank) {
    Graph graph;
    if (const int error = read_graph({thread, *comm}, nodes.value, ends.value, edges.value, graph))
        return error;
    *rank = comm->rank < nodes.value ? comm->rank : MPI_UNDEFINED;
    return MPI_SUCCESS;
}

int graphdims_get(Thread& thread, Comm comm, Out<int> nodes, Out<int> edges) {
    const Graph* graph = nullptr;
    if (const int error = TopologyCall{thread, *comm}.find(graph)) return error;
    *nodes = static_cast<int>(graph->ends.size());
    *edges = static_cast<int>(graph->edges.size());
    return MPI_SUCCESS;
}

int graph_get(Thread& thread, Comm comm, Raw<int> most_ends, Raw<int> most_edges, Array<int> ends,
              Array<int> edges) {
    const TopologyCall call{thread, *comm};
    const Graph* graph = nullptr;
    if (const int error = call.find(graph)) return error;
    if (const int error = call.not_negative("maxindex", most_ends.value)) return error;
    if (const int error = call.not_negative("maxedges", most_edges.value)) return error;
    if (const int error = call.present(
            "index", ends.value, std::min<std::int64_t>(most_ends.value, std::ssize(graph->ends))))
        return error;
    if (const int error =
            call.present("edges", edges.value,
                         std::min<std::int64_t>(most_edges.value, std::ssize(graph->edges))))
        return error;
    write_list(graph->ends, most_ends.value, ends.value);
    return write_list(graph->edges, most_edges.value, edges.value);
}

int graph_neighbors_count(Thread& thread, Comm comm, Raw<int> rank, Out<int> count) {
    const TopologyCall call{thread, *comm};
    const Graph* graph = nullptr;
    if (const int error = call.find(graph)) return error;
    if (const int error = call.rank_exists("rank", rank.value)) return error;
    *count = static_cast<int>(graph->neighbours(rank.value).size());
    return MPI_SUCCESS;
}

int graph_neighbors(Thread& thread, Comm comm, Raw<int> rank, Raw<int> room,
                    Array<int> neighbours) {
    const TopologyCall call{thread, *comm};
    const Graph* graph = nullptr;
    if (const int error = call.find(graph)) return error;
    if (const int error = call.rank_exists("rank", rank.value)) return error;
    if (const int error = call.not_negative("maxneighbors", room.value)) return error;
    const auto all = graph->neighbours(rank.value);
    const auto count = std::min<std::ptrdiff_t>(room.value, std::ssize(all));
    if (const int error = call.present("neighbors", neighbours.value, count)) return error;
    std::copy_n(all.begin(), count, neighbours.value);
    return MPI_SUCCESS;
}

// --- graphs of which each rank knows a part ---

bool is_weighted(const int* weights) noexcept { return weights != MPI_UNWEIGHTED; }

/// Weights of edges, or a constant for no weights.
template <class T>
struct Weights : Array<T> {
    static constexpr const char* name = "weights";
    using Array<T>::Array;
    int error(const Communicator* communicator) const noexcept {
        const bool none = this->value == MPI_UNWEIGHTED || this->value == MPI_WEIGHTS_EMPTY;
        return none ? MPI_SUCCESS : Array<T>::error(communicator);
    }
};

/// Checks weights of `count` edges: none (MPI_UNWEIGHTED), or an array, which may be missing if it
/// is empty.
int weights_fit(const TopologyCall& call, const char* argument, const int* weights,
                std::int64_t count) {
    if (!is_weighted(weights) || count == 0) return MPI_SUCCESS;
    if (weights == MPI_WEIGHTS_EMPTY)
        return call.fail(MPI_ERR_ARG,
                         std::string("argument ") + argument + ": MPI_WEIGHTS_EMPTY for " +
                             std::to_string(count) + " edges");
    if (const int error = call.present(argument, weights, count)) return error;
    for (std::int64_t i = 0; i < count; ++i)
        if (weights[i] < 0)
            return call.fail(MPI_ERR_ARG,
                             std::string("argument ") + argument + ": " +
                                 std::to_string(weights[i]) + " at index " + std::to_string(i) +
                                 " is negative");
    return MPI_SUCCESS;
}

std::vector<std::int32_t> weights_of(const int* weights, std::int64_t count) {
    if (!is_weighted(weights) || count == 0) return {};
    return {weights, weights + count};
}
std::vector<std::int32_t> ranks_of(const int* ranks, std::int64_t count) {
    if (count == 0) return {};
    return {ranks, ranks + count};
}

/// Checks the edges of one direction of an adjacent graph.
int check_edges(const TopologyCall& call, const char* degree_name, int degree,
                const char* ranks_name, const int* ranks, const char* weights_name,
                const int* weights) {
    if (const int error = call.not_negative(degree_name, degree)) return error;
    if (const int error = ranks_exist(call, ranks_name, ranks, degree, call.communicator.size()))
        return error;
    return weights_fit(call, weights_name, weights, degree);
}

int create_adjacent(Thread& thread, Comm comm, Raw<int> in, Array<const int> sources,
                    Weights<const int> source_weights, Raw<int> out, Array<const int> destinations,
                    Weights<const int> destination_weights, Hints, Raw<int> reorder,
                    Out<MPI_Comm> result) {
    *result = MPI_COMM_NULL;
    const TopologyCall call{thread, *comm};
    if (const int error = call.intra()) return error;
    if (const int error = check_edges(call, "indegree", in.value, "sources", sources.value,
                                      "sourceweights", source_weights.value))
        return error;
    if (const int error = check_edges(call, "outdegree", out.value, "destinations",
                                      destinations.value, "destweights", destination_weights.value))
        return error;
    if (is_weighted(source_weights.value) != is_weighted(destination_weights.value))
        return call.fail(MPI_ERR_ARG,
                         "arguments sourceweights and destweights: one of them is MPI_UNWEIGHTED");
    const topo::Adjacency mine{
        {ranks_of(sources.value, in.value), ranks_of(destinations.value, out.value)},
        {is_weighted(source_weights.value), weights_of(source_weights.value, in.value),
         weights_of(destination_weights.value, out.value)}};
    return topo::make_dist_graph(thread, *comm, mine, reorder.value != 0, *result);
}

/// Reads edges from each of `nodes` sources, as many as its degree says.
int read_edges(const TopologyCall& call, int nodes, const int* sources, const int* degrees,
               const int* destinations, const int* weights, std::vector<topo::Edge>& edges) {
    if (const int error = call.not_negative("n", nodes)) return error;
    if (const int error = ranks_exist(call, "sources", sources, nodes, call.communicator.size()))
        return error;
    if (const int error = call.present("degrees", degrees, nodes)) return error;
    std::int64_t count = 0;
    for (int node = 0; node < nodes; ++node) {
        if (const int error = call.not_negative("degrees", degrees[node])) return error;
        count += degrees[node];
    }
    if (const int error =
            ranks_exist(call, "destinations", destinations, count, call.communicator.size()))
        return error;
    if (const int error = weights_fit(call, "weights", weights, count)) return error;
    edges.reserve(static_cast<std::size_t>(count));
    for (int node = 0; node < nodes; ++node)
        for (int i = 0; i < degrees[node]; ++i) {
            const std::size_t edge = edges.size();
            edges.push_back(
                {sources[node], destinations[edge], is_weighted(weights) ? weights[edge] : 1});
        }
    return MPI_SUCCESS;
}

int dist_graph_create(Thread& thread, Comm comm, Raw<int> nodes, Array<const int> sources,
                      Array<const int> degrees, Array<const int> destinations,
                      Weights<const int> weights, Hints, Raw<int> reorder, Out<MPI_Comm> result) {
    *result = MPI_COMM_NULL;
    const TopologyCall call{thread, *comm};
    if (const int error = call.intra()) return error;
    std::vector<topo::Edge> edges;
    if (const int error = read_edges(call, nodes.value, sources.value, degrees.value,
                                     destinations.value, weights.value, edges))
        return error;
    topo::Adjacency mine;
    if (const int error =
            topo::gather_edges(thread, *comm, edges, is_weighted(weights.value), mine))
        return error;
    return topo::make_dist_graph(thread, *comm, mine, reorder.value != 0, *result);
}

int neighbors_count(Thread& thread, Comm comm, Out<int> in, Out<int> out, Out<int> weighted) {
    const DistGraph* graph = nullptr;
    if (const int error = TopologyCall{thread, *comm}.find(graph)) return error;
    *in = static_cast<int>(comm->topology->neighbours.sources.size());
    *out = static_cast<int>(comm->topology->neighbours.destinations.size());
    *weighted = graph->weighted;
    return MPI_SUCCESS;
}

/// Writes one direction of MPI_Dist_graph_neighbors. Weights that do not exist are not written.
int write_edges(const TopologyCall& call, const char* ranks_name, const char* weights_name,
                int room, const std::vector<std::int32_t>& from_ranks, int* ranks,
                const std::vector<std::int32_t>& from_weights, int* weights) {
    const auto count = std::min<std::int64_t>(room, std::ssize(from_ranks));
    const bool weighted =
        is_weighted(weights) && weights != MPI_WEIGHTS_EMPTY && !from_weights.empty();
    if (const int error = call.present(ranks_name, ranks, count)) return error;
    if (weighted)
        if (const int error = call.present(weights_name, weights, count)) return error;
    write_list(from_ranks, room, ranks);
    return weighted ? write_list(from_weights, room, weights) : MPI_SUCCESS;
}

int neighbors(Thread& thread, Comm comm, Raw<int> most_in, Array<int> sources,
              Weights<int> source_weights, Raw<int> most_out, Array<int> destinations,
              Weights<int> destination_weights) {
    const TopologyCall call{thread, *comm};
    const DistGraph* graph = nullptr;
    if (const int error = call.find(graph)) return error;
    if (const int error = call.not_negative("maxindegree", most_in.value)) return error;
    if (const int error = call.not_negative("maxoutdegree", most_out.value)) return error;
    const topo::Neighbours& mine = comm->topology->neighbours;
    if (const int error = write_edges(call, "sources", "sourceweights", most_in.value, mine.sources,
                                      sources.value, graph->source_weights, source_weights.value))
        return error;
    return write_edges(call, "destinations", "destweights", most_out.value, mine.destinations,
                       destinations.value, graph->destination_weights, destination_weights.value);
}

}  // namespace
}  // namespace heddle::api

using namespace heddle::api;

MPI_ENTRY(6, Graph_create, graph_create)
MPI_ENTRY(5, Graph_map, graph_map)
MPI_ENTRY(3, Graphdims_get, graphdims_get)
MPI_ENTRY(5, Graph_get, graph_get)
MPI_ENTRY(3, Graph_neighbors_count, graph_neighbors_count)
MPI_ENTRY(4, Graph_neighbors, graph_neighbors)
MPI_ENTRY(10, Dist_graph_create_adjacent, create_adjacent)
MPI_ENTRY(9, Dist_graph_create, dist_graph_create)
MPI_ENTRY(4, Dist_graph_neighbors_count, neighbors_count)
MPI_ENTRY(7, Dist_graph_neighbors, neighbors)
