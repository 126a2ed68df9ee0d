// SPDX-License-Identifier: BSD-3-Clause
#include "topo/make.hpp"

#include <algorithm>
#include <numeric>

#include "comm/agreement.hpp"
#include "objects/process.hpp"
#include "platform/hardware.hpp"
#include "topo/exchange.hpp"
#include "topo/placement.hpp"

namespace heddle::topo {
namespace {

using Order = std::vector<std::int32_t>;

std::size_t at(std::int32_t number) noexcept { return static_cast<std::size_t>(number); }

/// Returns the index of `rank` in the order.
std::int32_t place_of(std::span<const std::int32_t> order, std::int32_t rank) noexcept {
    return static_cast<std::int32_t>(std::find(order.begin(), order.end(), rank) - order.begin());
}

/// Makes a communicator of these ranks of the parent, by new rank. The caller is number `me`.
int make(core::Thread& thread, objects::Communicator& parent, std::span<const std::int32_t> ranks,
         std::int32_t me, Topology topology, MPI_Comm& made) {
    auto shared = std::make_shared<const Topology>(std::move(topology));
    std::uint32_t context = 0;
    if (const int error = comm::agree_on_context(thread, comm::Participants(parent), ranks, me,
                                                 comm::create_agreement, context))
        return error;
    objects::Members processes;
    for (const std::int32_t rank : ranks) processes.push_back(parent.group->processes[at(rank)]);
    objects::Group& group = objects::make_group(*thread.process, std::move(processes));
    objects::Communicator& communicator =
        objects::make_communicator(*thread.process, parent, context, group);
    communicator.topology = std::move(shared);
    made = communicator.handle;
    return MPI_SUCCESS;
}

Order old_order(std::int32_t members) {
    Order order(at(members));
    std::iota(order.begin(), order.end(), 0);
    return order;
}

/// Returns the node of this process, by its number in the job. Returns -1 if other processes are of
/// other jobs.
std::int32_t own_node(const objects::Process& process, const objects::Communicator& parent) {
    const bool several_jobs = process.has_guests(parent.group->processes);
    return several_jobs ? -1 : process.numbers.node_of(process.number());
}

/// Gathers the node of each of the first ranks, and the hardware that it is bound to.
int gather_locations(core::Thread& thread, objects::Communicator& parent, std::int32_t members,
                     std::vector<Location>& locations) {
    List mine{own_node(*thread.process, parent)};
    for (const char* level : levels) mine.push_back(platform::hardware_of_process(level));
    Lists all;
    if (const int error = tell_all(thread, parent, members, mine, all)) return error;
    locations.resize(all.size());
    for (std::size_t rank = 0; rank < all.size(); ++rank)
        std::copy(all[rank].begin(), all[rank].end(), locations[rank].domains.begin());
    return MPI_SUCCESS;
}

/// Finds the parent's rank for each place. `links_of(Links&)` finds the links between places, if
/// they are needed, and returns MPI_SUCCESS or an error.
template <class LinksOf>
int find_order(core::Thread& thread, objects::Communicator& parent, std::int32_t members,
               bool reorder, LinksOf&& links_of, Order& order) {
    order = old_order(members);
    if (!reorder || members < 3) return MPI_SUCCESS;  // no order of two processes is better
    std::vector<Location> locations;
    if (const int error = gather_locations(thread, parent, members, locations)) return error;
    if (!differ(locations)) return MPI_SUCCESS;
    Links links(at(members));
    if (const int error = links_of(links)) return error;
    order = placed(locations, links);
    return MPI_SUCCESS;
}

void add_links(std::vector<Link>& links, std::span<const std::int32_t> neighbours) {
    for (const std::int32_t neighbour : neighbours)
        if (neighbour != MPI_PROC_NULL) links.push_back({neighbour, 1});
}

// --- distributed graphs as lists of numbers ---

List packed(const Adjacency& edges) {
    List list{static_cast<std::int32_t>(edges.neighbours.sources.size()),
              static_cast<std::int32_t>(edges.neighbours.destinations.size()),
              edges.weights.weighted ? 1 : 0};
    for (const auto* part : {&edges.neighbours.sources, &edges.neighbours.destinations,
                             &edges.weights.source_weights, &edges.weights.destination_weights})
        list.insert(list.end(), part->begin(), part->end());
    return list;
}

Adjacency unpacked(const List& list) {
    const std::size_t sources = at(list[0]), destinations = at(list[1]);
    const bool weighted = list[2] != 0;
    auto next = list.begin() + 3;
    const auto take = [&](std::size_t count) {
        const auto first = next;
        next += static_cast<std::ptrdiff_t>(count);
        return List(first, next);
    };
    Adjacency edges;
    edges.neighbours.sources = take(sources);
    edges.neighbours.destinations = take(destinations);
    edges.weights.weighted = weighted;
    if (!weighted) return edges;
    edges.weights.source_weights = take(sources);
    edges.weights.destination_weights = take(destinations);
    return edges;
}

/// Gathers the whole graph on every process. That is needed only if the order of ranks may change.
int gather_links(core::Thread& thread, objects::Communicator& parent, const Adjacency& mine,
                 Links& links) {
    Lists all;
    if (const int error = tell_all(thread, parent, parent.size(), packed(mine), all)) return error;
    for (std::size_t node = 0; node < all.size(); ++node) {
        const Adjacency edges = unpacked(all[node]);
        const auto& to = edges.neighbours.destinations;
        for (std::size_t i = 0; i < to.size(); ++i)
            links[node].push_back(
                {to[i], edges.weights.weighted ? edges.weights.destination_weights[i] : 1});
    }
    return MPI_SUCCESS;
}

/// Gives the edges that a rank has given to the process that takes its place.
int hand_over(core::Thread& thread, objects::Communicator& parent, const Order& order,
              Adjacency& edges) {
    Lists out(order.size()), in;
    out[at(order[at(parent.rank)])] = packed(edges);
    if (const int error = exchange(thread, parent, out, in)) return error;
    edges = unpacked(in[at(place_of(order, parent.rank))]);
    return MPI_SUCCESS;
}

}  // namespace

int make_cart(core::Thread& thread, objects::Communicator& parent, const Cart& cart, bool reorder,
              MPI_Comm& made) {
    const std::int32_t members = *size_of(cart);
    if (parent.rank >= members) return MPI_SUCCESS;
    Order order;
    const auto links_of = [&](Links& links) {
        for (std::int32_t rank = 0; rank < members; ++rank)
            add_links(links[at(rank)], neighbours_of(cart, rank).destinations);
        return MPI_SUCCESS;
    };
    if (const int error = find_order(thread, parent, members, reorder, links_of, order))
        return error;
    const std::int32_t me = place_of(order, parent.rank);
    return make(thread, parent, order, me, {cart, neighbours_of(cart, me)}, made);
}

int make_graph(core::Thread& thread, objects::Communicator& parent, const Graph& graph,
               bool reorder, MPI_Comm& made) {
    const auto members = static_cast<std::int32_t>(graph.ends.size());
    if (parent.rank >= members) return MPI_SUCCESS;
    Order order;
    const auto links_of = [&](Links& links) {
        for (std::int32_t rank = 0; rank < members; ++rank)
            add_links(links[at(rank)], graph.neighbours(rank));
        return MPI_SUCCESS;
    };
    if (const int error = find_order(thread, parent, members, reorder, links_of, order))
        return error;
    const std::int32_t me = place_of(order, parent.rank);
    const auto neighbours = graph.neighbours(me);
    const List list(neighbours.begin(), neighbours.end());
    return make(thread, parent, order, me, {graph, Neighbours{list, list}}, made);
}

int make_dist_graph(core::Thread& thread, objects::Communicator& parent, const Adjacency& mine,
                    bool reorder, MPI_Comm& made) {
    Order order;
    const auto links_of = [&](Links& links) { return gather_links(thread, parent, mine, links); };
    if (const int error = find_order(thread, parent, parent.size(), reorder, links_of, order))
        return error;
    Adjacency edges = mine;
    if (!std::is_sorted(order.begin(), order.end()))
        if (const int error = hand_over(thread, parent, order, edges)) return error;
    return make(thread, parent, order, place_of(order, parent.rank),
                {edges.weights, edges.neighbours}, made);
}

int gather_edges(core::Thread& thread, objects::Communicator& parent, std::span<const Edge> given,
                 bool weighted, Adjacency& mine) {
    Lists out(at(parent.size())), in;
    for (const Edge& edge : given) {
        for (const std::int32_t end : {edge.source, edge.destination}) {
            List& list = out[at(end)];
            list.insert(list.end(), {edge.source, edge.destination, edge.weight});
            if (edge.source == edge.destination) break;
        }
    }
    if (const int error = exchange(thread, parent, out, in)) return error;
    mine.weights.weighted = weighted;
    for (const List& list : in)
        for (std::size_t i = 0; i < list.size(); i += 3) {
            if (list[i + 1] == parent.rank) {
                mine.neighbours.sources.push_back(list[i]);
                if (weighted) mine.weights.source_weights.push_back(list[i + 2]);
            }
            if (list[i] == parent.rank) {
                mine.neighbours.destinations.push_back(list[i + 1]);
                if (weighted) mine.weights.destination_weights.push_back(list[i + 2]);
            }
        }
    return MPI_SUCCESS;
}

int make_subgrid(core::Thread& thread, objects::Communicator& parent, const Cart& cart,
                 const int* remain, MPI_Comm& made) {
    const Subgrid part = subgrid(cart, parent.rank, remain);
    const std::int32_t me = place_of(part.ranks, parent.rank);
    return make(thread, parent, part.ranks, me, {part.cart, neighbours_of(part.cart, me)}, made);
}

}  // namespace heddle::topo
