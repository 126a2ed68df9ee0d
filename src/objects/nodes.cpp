// SPDX-License-Identifier: BSD-3-Clause
#include "objects/nodes.hpp"

#include <algorithm>
#include <map>

#include "objects/process.hpp"

namespace heddle::objects {

std::int32_t Nodes::place_of(std::int32_t rank, std::int32_t node) const noexcept {
    const auto there = on(node);
    const auto at = std::lower_bound(there.begin(), there.end(), rank);
    return at == there.end() || *at != rank ? -1 : static_cast<std::int32_t>(at - there.begin());
}

std::int32_t Nodes::node_of(std::int32_t rank) const noexcept {
    std::int32_t node = 0;
    while (place_of(rank, node) < 0) ++node;
    return node;
}

namespace {

std::shared_ptr<Nodes> make_nodes(const Process& process, const Communicator& communicator) {
    auto nodes = std::make_shared<Nodes>();
    std::map<std::int32_t, std::int32_t> known;  // the launcher's number -> ours
    std::vector<std::vector<std::int32_t>> on;
    for (std::int32_t rank = 0; rank < communicator.peers; ++rank) {
        const std::int32_t member = communicator.processes[rank];
        if (process.numbers.is_guest(member)) return std::make_shared<Nodes>();
        const auto [at, is_new] =
            known.emplace(process.numbers.node_of(member), static_cast<std::int32_t>(on.size()));
        if (is_new) on.emplace_back();
        std::vector<std::int32_t>& there = on[static_cast<std::size_t>(at->second)];
        if (rank == communicator.rank) {
            nodes->own = at->second;
            nodes->place = static_cast<std::int32_t>(there.size());
        }
        there.push_back(rank);
    }
    for (const std::vector<std::int32_t>& there : on) {
        nodes->begins.push_back(static_cast<std::int32_t>(nodes->ranks.size()));
        nodes->ranks.insert(nodes->ranks.end(), there.begin(), there.end());
        nodes->most = std::max(nodes->most, static_cast<std::int32_t>(there.size()));
    }
    nodes->begins.push_back(static_cast<std::int32_t>(nodes->ranks.size()));
    return nodes;
}

}  // namespace

Nodes* find_nodes(const Process& process, Communicator& communicator) {
    if (process.numbers.is_one_node()) [[likely]]
        return nullptr;
    if (communicator.nodes == nullptr) communicator.nodes = make_nodes(process, communicator);
    return communicator.nodes->have_levels() ? communicator.nodes.get() : nullptr;
}

}  // namespace heddle::objects
