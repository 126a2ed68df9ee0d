// SPDX-License-Identifier: BSD-3-Clause
#include "topo/placement.hpp"

#include <algorithm>
#include <numeric>

namespace heddle::topo {
namespace {

using Locations = std::span<const Location>;
using Order = std::vector<std::int32_t>;

std::size_t at(std::int32_t number) noexcept { return static_cast<std::size_t>(number); }

/// The distance between nodes. A message to another node takes some ten times as long as one to
/// another package.
constexpr std::int64_t between_nodes = 30;

/// Returns the number of levels in which two processes of a node differ. A process that is not
/// bound is near to all.
std::int64_t distance(const Location& a, const Location& b) noexcept {
    const auto differs = [&](std::size_t i) {
        return a.domains[i] >= 0 && b.domains[i] >= 0 && a.domains[i] != b.domains[i];
    };
    if (differs(0)) return between_nodes;
    std::int64_t levels = 0;
    for (std::size_t i = 1; i < a.domains.size(); ++i) levels += differs(i);
    return levels;
}

Order old_order(std::size_t count) {
    Order order(count);
    std::iota(order.begin(), order.end(), 0);
    return order;
}

/// Returns the processes so that those of one domain follow each other.
Order by_location(Locations locations) {
    Order order = old_order(locations.size());
    std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
        return locations[at(a)].domains < locations[at(b)].domains;
    });
    return order;
}

/// Returns the links so that both ends know them.
Links symmetric(const Links& links) {
    Links both(links.size());
    for (std::size_t node = 0; node < links.size(); ++node)
        for (const Link& link : links[node]) {
            both[node].push_back(link);
            both[at(link.node)].push_back({static_cast<std::int32_t>(node), link.weight});
        }
    return both;
}

/// A node without a process, and its links to the domain that is being filled.
struct Candidate {
    std::int64_t to_domain = 0;  ///< weight of its links to nodes in the domain
    std::int64_t to_free = 0;    ///< weight of its links to other nodes without a process
    std::size_t touched = 0;     ///< when it was first linked to the domain; 0 if it is not
    bool taken = false;

    /// Returns true if it has the stronger link to the domain. Among equal ones the older comes
    /// first, so that domains grow round and not long. A new domain begins with the node that cuts
    /// off least.
    bool before(const Candidate& other) const noexcept {
        if (to_domain != other.to_domain) return to_domain > other.to_domain;
        if (touched != other.touched) return touched - 1 < other.touched - 1;  // 0 comes last
        return to_free < other.to_free;
    }
};

/// Chooses nodes for processes one after the other, so that domains fill up with compact pieces.
Order grown(Locations locations, const Links& links, const Order& processes) {
    const Links both = symmetric(links);
    std::vector<Candidate> candidates(both.size());
    for (std::size_t node = 0; node < both.size(); ++node)
        for (const Link& link : both[node]) candidates[node].to_free += link.weight;

    Order process_of(both.size());
    std::size_t time = 0;
    std::int32_t latest = processes.front();
    for (const std::int32_t process : processes) {
        if (locations[at(latest)].domains != locations[at(process)].domains)
            for (Candidate& candidate : candidates) candidate.to_domain = 0, candidate.touched = 0;
        latest = process;
        const auto best = static_cast<std::size_t>(
            std::min_element(candidates.begin(), candidates.end(),
                             [](const Candidate& a, const Candidate& b) {
                                 return a.taken != b.taken ? b.taken : !a.taken && a.before(b);
                             }) -
            candidates.begin());
        candidates[best].taken = true;
        process_of[best] = process;
        for (const Link& link : both[best]) {
            Candidate& neighbour = candidates[at(link.node)];
            neighbour.to_domain += link.weight;
            neighbour.to_free -= link.weight;
            if (neighbour.touched == 0) neighbour.touched = ++time;
        }
    }
    return process_of;
}

}  // namespace

bool differ(Locations locations) noexcept {
    return std::any_of(locations.begin(), locations.end(), [&](const Location& location) {
        return distance(locations.front(), location) != 0;
    });
}

std::int64_t cost_of(Locations locations, const Links& links,
                     std::span<const std::int32_t> process_of) noexcept {
    std::int64_t cost = 0;
    for (std::size_t node = 0; node < links.size(); ++node)
        for (const Link& link : links[node])
            cost += link.weight *
                distance(locations[at(process_of[node])], locations[at(process_of[at(link.node)])]);
    return cost;
}

std::vector<std::int32_t> placed(Locations locations, const Links& links) {
    Order best = old_order(locations.size());
    std::int64_t least = cost_of(locations, links, best);
    if (least == 0) return best;
    const Order sorted = by_location(locations);
    for (Order& candidate : std::vector<Order>{sorted, grown(locations, links, sorted)}) {
        const std::int64_t cost = cost_of(locations, links, candidate);
        if (cost >= least) continue;
        least = cost;
        best = std::move(candidate);
    }
    return best;
}

}  // namespace heddle::topo
