// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The ranks of a communicator that are on one node, for collectives in levels (coll/levels.cpp).
///
/// Memory         from the first collective that may use levels: 4 bytes for each rank of this
///                node. If nodes follow no rule (launch/regular_map.hpp), also 8 for each rank of
///                the communicator.
/// Thread safety  that of collectives: one at a time on a communicator.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "launch/regular_map.hpp"
#include "objects/communicator.hpp"

namespace heddle::objects {

class Process;

/// Ranks in a list, or at the places of a node that a rule gives.
class RanksOfNode {
public:
    explicit RanksOfNode(std::span<const std::int32_t> list) noexcept
        : list_(list.data()), size_(static_cast<std::int32_t>(list.size())) {}
    RanksOfNode(const launch::RegularMap& map, std::int32_t node) noexcept
        : map_(&map), node_(node), size_(map.size_of(node)) {}

    std::int32_t size() const noexcept { return size_; }
    std::int32_t operator[](std::int32_t place) const noexcept {
        return list_ != nullptr ? list_[place] : map_->rank_at(node_, place);
    }
    std::int32_t front() const noexcept { return (*this)[0]; }

private:
    const std::int32_t* list_ = nullptr;
    const launch::RegularMap* map_ = nullptr;
    std::int32_t node_ = 0, size_;
};

struct Nodes {
    /// The rule, or nothing if the two lists below tell. Nodes are numbered by their first ranks.
    std::optional<launch::RegularMap> regular;
    std::vector<std::int32_t> listed_ranks;   ///< node after node, and in order on each
    std::vector<std::int32_t> listed_begins;  ///< of each node in listed_ranks, and the end
    std::vector<std::int32_t> here;           ///< the ranks of this node
    std::int32_t most = 0, fewest = 0;        ///< ranks on one node
    std::int32_t own = 0;                     ///< the node of this process
    std::int32_t place = 0;                   ///< the place of this process on its node
    SharedScratch scratch;                    ///< shared by the ranks of this node

    std::int32_t count() const noexcept {
        if (regular) return regular->nodes;
        return listed_begins.empty() ? 0 : static_cast<std::int32_t>(listed_begins.size()) - 1;
    }
    std::int32_t ranks() const noexcept {
        return regular ? regular->ranks : static_cast<std::int32_t>(listed_ranks.size());
    }
    RanksOfNode on(std::int32_t node) const noexcept {
        return regular ? RanksOfNode(*regular, node) : RanksOfNode(listed(node));
    }
    std::int32_t size_of(std::int32_t node) const noexcept { return on(node).size(); }
    /// Returns -1 if the rank is on another node.
    std::int32_t place_of(std::int32_t rank, std::int32_t node) const noexcept;
    std::int32_t node_of(std::int32_t rank) const noexcept;
    /// Returns true if there are several nodes, one of which has several ranks.
    bool have_levels() const noexcept { return count() > 1 && most > 1; }

private:
    std::span<const std::int32_t> listed(std::int32_t node) const noexcept {
        const auto i = static_cast<std::size_t>(node);
        const auto begin = static_cast<std::size_t>(listed_begins[i]);
        return std::span(listed_ranks)
            .subspan(begin, static_cast<std::size_t>(listed_begins[i + 1]) - begin);
    }
};

/// Fills `nodes` for the process of rank `me`: by rank, or by a rule.
void place_ranks(Nodes& nodes, std::span<const std::int32_t> node_by_rank, std::int32_t me);
void place_ranks(Nodes& nodes, const launch::RegularMap& map, std::int32_t me);

/// Returns the nodes of an intracommunicator. Returns nullptr if it has no levels, or has processes
/// of other jobs. Throws std::bad_alloc.
Nodes* find_nodes(const Process& process, Communicator& communicator);

}  // namespace heddle::objects
