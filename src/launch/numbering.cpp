// SPDX-License-Identifier: BSD-3-Clause
#include "launch/numbering.hpp"

namespace heddle::launch {

Numbering::Numbering(std::int32_t rank, const NodeMap& nodes)
    : Numbering(rank, static_cast<std::int32_t>(nodes.size())) {
    const std::int32_t own_node = nodes[static_cast<std::size_t>(rank)];
    for (std::int32_t other = 0; other < size_; ++other)
        if (nodes[static_cast<std::size_t>(other)] == own_node) ranks_here_.push_back(other);
    here_ = static_cast<std::int32_t>(ranks_here_.size());
    if (here_ == size_) {
        ranks_here_.clear();
        return;
    }
    ranks_here_.shrink_to_fit();
    own_ = here_below(rank);
    first_node_ = nodes.front();
    regular_ = RegularMap::of(nodes);
    if (!regular_) nodes_ = nodes;
}

/// Returns the rank that has `place` ranks of other nodes below it. A rank of this node is below it
/// if it has at most `place` ranks of other nodes below itself.
std::int32_t Numbering::other_rank(std::int32_t place) const noexcept {
    std::int32_t below = 0, end = here_;
    while (below < end) {
        const std::int32_t middle = below + (end - below) / 2;
        if (ranks_here_[static_cast<std::size_t>(middle)] - middle <= place)
            below = middle + 1;
        else
            end = middle;
    }
    return place + below;
}

}  // namespace heddle::launch
