// SPDX-License-Identifier: BSD-3-Clause
#include "objects/nodes.hpp"

#include <algorithm>
#include <unordered_map>

#include "objects/process.hpp"

namespace heddle::objects {

std::int32_t Nodes::place_of(std::int32_t rank, std::int32_t node) const noexcept {
    if (regular) return regular->node_of(rank) == node ? regular->place_of(rank) : -1;
    const auto there = listed(node);
    const auto at = std::lower_bound(there.begin(), there.end(), rank);
    return at == there.end() || *at != rank ? -1 : static_cast<std::int32_t>(at - there.begin());
}

std::int32_t Nodes::node_of(std::int32_t rank) const noexcept {
    if (regular) return regular->node_of(rank);
    std::int32_t node = 0;
    while (place_of(rank, node) < 0) ++node;
    return node;
}

namespace {

/// Lists the ranks node by node.
void list_ranks(Nodes& nodes, std::span<const std::int32_t> node_by_rank) {
    std::vector<std::int32_t>& begins = nodes.listed_begins;
    begins.assign(
        static_cast<std::size_t>(*std::max_element(node_by_rank.begin(), node_by_rank.end()) + 2),
        0);
    for (const std::int32_t node : node_by_rank) ++begins[static_cast<std::size_t>(node) + 1];
    for (std::size_t i = 1; i < begins.size(); ++i) begins[i] += begins[i - 1];
    nodes.listed_ranks.resize(node_by_rank.size());
    std::vector<std::int32_t> next = begins;
    for (std::size_t rank = 0; rank < node_by_rank.size(); ++rank) {
        std::int32_t& at = next[static_cast<std::size_t>(node_by_rank[rank])];
        nodes.listed_ranks[static_cast<std::size_t>(at++)] = static_cast<std::int32_t>(rank);
    }
}

/// Returns the node of each rank. Nodes are numbered by their first ranks. Returns nothing if there
/// are processes of other jobs.
std::vector<std::int32_t> numbered_nodes(const Process& process, const Communicator& communicator) {
    std::unordered_map<std::int32_t, std::int32_t> known;  // the launcher's number -> ours
    std::vector<std::int32_t> nodes;
    nodes.reserve(static_cast<std::size_t>(communicator.peers));
    for (std::int32_t rank = 0; rank < communicator.peers; ++rank) {
        const std::int32_t member = communicator.processes[rank];
        if (process.numbers.is_guest(member)) return {};
        const auto next = static_cast<std::int32_t>(known.size());
        nodes.push_back(known.emplace(process.numbers.node_of(member), next).first->second);
    }
    return nodes;
}

/// Finds this process's own places, once the ranks of each node are known.
void find_own(Nodes& nodes, std::int32_t me) {
    nodes.own = nodes.node_of(me);
    nodes.place = nodes.place_of(me, nodes.own);
    nodes.fewest = nodes.size_of(nodes.own);
    for (std::int32_t node = 0; node < nodes.count(); ++node) {
        nodes.most = std::max(nodes.most, nodes.size_of(node));
        nodes.fewest = std::min(nodes.fewest, nodes.size_of(node));
    }
    const RanksOfNode here = nodes.on(nodes.own);
    nodes.here.reserve(static_cast<std::size_t>(here.size()));
    for (std::int32_t place = 0; place < here.size(); ++place) nodes.here.push_back(here[place]);
}

std::shared_ptr<Nodes> make_nodes(const Process& process, const Communicator& communicator) {
    auto nodes = std::make_shared<Nodes>();
    const std::vector<std::int32_t> numbered = numbered_nodes(process, communicator);
    if (!numbered.empty()) place_ranks(*nodes, numbered, communicator.rank);
    return nodes;
}

}  // namespace

void place_ranks(Nodes& nodes, std::span<const std::int32_t> node_by_rank, std::int32_t me) {
    nodes.regular = launch::RegularMap::of(node_by_rank);
    if (!nodes.regular) list_ranks(nodes, node_by_rank);
    find_own(nodes, me);
}

void place_ranks(Nodes& nodes, const launch::RegularMap& map, std::int32_t me) {
    nodes.regular = map;
    find_own(nodes, me);
}

Nodes* find_nodes(const Process& process, Communicator& communicator) {
    if (communicator.nodes == nullptr) {
        if (process.numbers.is_one_node()) [[likely]]
            return nullptr;
        communicator.nodes = make_nodes(process, communicator);
    }
    return communicator.nodes->have_levels() ? communicator.nodes.get() : nullptr;
}

}  // namespace heddle::objects
