// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Which ranks of a communicator are on one node, for collectives in levels (coll/levels.cpp).
///
/// Memory         8 bytes for each rank, with the first collective that may go in levels.
/// Thread safety  that of collectives: one at a time on a communicator.

#include <cstdint>
#include <span>
#include <vector>

#include "objects/communicator.hpp"

namespace heddle::objects {

class Process;

struct Nodes {
    std::vector<std::int32_t> ranks;   ///< node after node, by their first ranks; each in order
    std::vector<std::int32_t> begins;  ///< of each node there, and the end
    std::int32_t most = 0;             ///< ranks on one node
    std::int32_t own = 0;              ///< the node of this process
    std::int32_t place = 0;            ///< of this process on it
    SharedScratch scratch;             ///< that the ranks of this node share

    std::int32_t count() const noexcept {
        return begins.empty() ? 0 : static_cast<std::int32_t>(begins.size()) - 1;
    }
    std::span<const std::int32_t> on(std::int32_t node) const noexcept {
        const auto i = static_cast<std::size_t>(node);
        return std::span(ranks).subspan(static_cast<std::size_t>(begins[i]),
                                        static_cast<std::size_t>(begins[i + 1] - begins[i]));
    }
    std::int32_t size_of(std::int32_t node) const noexcept {
        return static_cast<std::int32_t>(on(node).size());
    }
    /// -1: the rank is on another node.
    std::int32_t place_of(std::int32_t rank, std::int32_t node) const noexcept;
    std::int32_t node_of(std::int32_t rank) const noexcept;
    /// Several nodes, one of which has several ranks.
    bool have_levels() const noexcept { return count() > 1 && most > 1; }
};

/// Those of an intracommunicator. nullptr: it has no levels, or has processes of other jobs. Throws std::bad_alloc.
Nodes* find_nodes(const Process& process, Communicator& communicator);

}  // namespace heddle::objects
