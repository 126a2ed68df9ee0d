// SPDX-License-Identifier: BSD-3-Clause
#include "launch/numbering.hpp"

#include <algorithm>
#include <numeric>

namespace heddle::launch {

Numbering::Numbering(std::int32_t rank, const NodeMap& nodes)
    : Numbering(rank, static_cast<std::int32_t>(nodes.size())) {
    const auto node_of = [&nodes](std::int32_t other) {
        return nodes[static_cast<std::size_t>(other)];
    };
    ranks_.resize(nodes.size());
    std::iota(ranks_.begin(), ranks_.end(), 0);
    const auto others =
        std::stable_partition(ranks_.begin(), ranks_.end(),
                              [&](std::int32_t other) { return node_of(other) == node_of(rank); });
    here_ = static_cast<std::int32_t>(others - ranks_.begin());
    if (here_ == size_) {
        ranks_.clear();
        return;
    }
    numbers_.resize(nodes.size());
    for (std::int32_t number = 0; number < size_; ++number)
        numbers_[static_cast<std::size_t>(rank_of(number))] = number;
    own_ = number_of(rank);
    nodes_ = nodes;
}

}  // namespace heddle::launch
