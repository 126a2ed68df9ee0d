// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Places of ranks on nodes that follow from three numbers, so that no process needs a table of the
/// job.
///
/// Blocks of `each` consecutive ranks go from node to node. After the last node they begin again
/// with the first. If `each` is all ranks of a node, this is a mapping in blocks. If it is one,
/// this is a mapping in turn.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace heddle::launch {

struct RegularMap {
    std::int32_t each = 1;   ///< ranks of a block
    std::int32_t nodes = 1;  ///< that blocks go around
    std::int32_t ranks = 0;  ///< in all

    /// Returns the map of nodes by rank, numbered from the first rank's node on. Returns nothing if
    /// they are not regular.
    static std::optional<RegularMap> of(std::span<const std::int32_t> node_by_rank) noexcept {
        if (node_by_rank.empty()) return std::nullopt;
        const std::int32_t first = node_by_rank.front();
        const auto other = std::find_if(node_by_rank.begin(), node_by_rank.end(),
                                        [first](std::int32_t node) { return node != first; });
        const std::int32_t highest = *std::max_element(node_by_rank.begin(), node_by_rank.end());
        if (highest - first >= static_cast<std::int32_t>(node_by_rank.size())) return std::nullopt;
        const RegularMap map{static_cast<std::int32_t>(other - node_by_rank.begin()),
                             highest - first + 1, static_cast<std::int32_t>(node_by_rank.size())};
        for (std::int32_t rank = 0; rank < map.ranks; ++rank)
            if (node_by_rank[static_cast<std::size_t>(rank)] - first != map.node_of(rank))
                return std::nullopt;
        return map;
    }

    std::int32_t node_of(std::int32_t rank) const noexcept { return rank / each % nodes; }
    /// Returns the place of a rank among those of its node.
    std::int32_t place_of(std::int32_t rank) const noexcept {
        return rank / around() * each + rank % each;
    }
    std::int32_t rank_at(std::int32_t node, std::int32_t place) const noexcept {
        return (place / each * nodes + node) * each + place % each;
    }
    std::int32_t size_of(std::int32_t node) const noexcept {
        return ranks / around() * each + std::clamp(ranks % around() - node * each, 0, each);
    }

private:
    std::int32_t around() const noexcept { return each * nodes; }
};

}  // namespace heddle::launch
