// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Numbers of the processes of a job, as one process uses them: a number for each, found without a
/// search.
///
/// Numbers        those of a node come first, in the order of their ranks: such a number is the
///                place in the node's memory (node/board.hpp). Those of other nodes follow, in the
///                order of their ranks. So processes of one node use the same numbers. Processes of
///                several nodes never tell each other numbers: they tell ranks.
/// One node       a number is a rank, and nothing is kept.
/// Guests         processes of other jobs have numbers from size() on (transport/guests.hpp), and
///                are no ranks: a caller that asks for their ranks gets these numbers back.
/// Memory         4 bytes for each rank of this node if the job is on several nodes. As many more
///                for each rank of the job if its nodes follow no rule (launch/regular_map.hpp).

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "launch/node_map.hpp"
#include "launch/regular_map.hpp"

namespace heddle::launch {

class Numbering {
public:
    /// Numbers a job of `size` ranks on one node, for rank `rank`.
    Numbering(std::int32_t rank, std::int32_t size) noexcept
        : rank_(rank), own_(rank), here_(size), size_(size) {}
    /// Numbers a job whose launcher has told its nodes, for rank `rank`.
    Numbering(std::int32_t rank, const NodeMap& nodes);

    std::int32_t rank() const noexcept { return rank_; }
    std::int32_t own() const noexcept { return own_; }
    /// Returns the number of processes on this node: their numbers are below.
    std::int32_t here() const noexcept { return here_; }
    std::int32_t size() const noexcept { return size_; }
    bool is_one_node() const noexcept { return here_ == size_; }
    bool is_guest(std::int32_t number) const noexcept { return number >= size_; }

    std::int32_t number_of(std::int32_t rank) const noexcept {
        if (ranks_here_.empty() || is_guest(rank)) return rank;
        const std::int32_t below = here_below(rank);
        return is_here(rank, below) ? below : here_ + rank - below;
    }
    std::int32_t rank_of(std::int32_t number) const noexcept {
        if (ranks_here_.empty() || is_guest(number)) return number;
        return number < here_ ? ranks_here_[static_cast<std::size_t>(number)]
                              : other_rank(number - here_);
    }

    /// Returns the node of a process of this job, by the launcher's number.
    std::int32_t node_of(std::int32_t number) const noexcept {
        const std::int32_t rank = rank_of(number);
        if (regular_) return first_node_ + regular_->node_of(rank);
        return nodes_.empty() ? 0 : nodes_[static_cast<std::size_t>(rank)];
    }

private:
    /// Returns how many ranks of this node are below `rank`.
    std::int32_t here_below(std::int32_t rank) const noexcept {
        const auto at = std::lower_bound(ranks_here_.begin(), ranks_here_.end(), rank);
        return static_cast<std::int32_t>(at - ranks_here_.begin());
    }
    bool is_here(std::int32_t rank, std::int32_t below) const noexcept {
        return below < here_ && ranks_here_[static_cast<std::size_t>(below)] == rank;
    }
    std::int32_t other_rank(std::int32_t place) const noexcept;

    std::int32_t rank_, own_, here_, size_;
    std::vector<std::int32_t> ranks_here_;  ///< empty: the job is on one node
    std::optional<RegularMap> regular_;
    std::int32_t first_node_ = 0;  ///< of a regular map
    NodeMap nodes_;                ///< empty: there is one node, or a regular map tells
};

}  // namespace heddle::launch
