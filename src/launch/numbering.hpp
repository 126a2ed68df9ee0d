// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// What a process calls the processes of its job: a number for each, found without a search.
///
/// Numbers        those of a node come first, in the order of their ranks: such a number is the place in the node's
///                memory (launch/board.hpp). Those of other nodes follow, in the order of theirs. So processes of one
///                node use the same numbers, and processes of several never tell each other any: they tell ranks.
/// One node       a number is a rank, and nothing is kept.
/// Guests         processes of other jobs have numbers from size() on (transport/guests.hpp), and are no ranks: what asks for
///                ranks gets these numbers back.
/// Memory         12 bytes for each rank of a job on several nodes.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "launch/node_map.hpp"

namespace heddle::launch {

class Numbering {
public:
    /// Of a rank whose job of so many is on one node.
    Numbering(std::int32_t rank, std::int32_t size) noexcept
        : rank_(rank), own_(rank), here_(size), size_(size) {}
    /// Of a rank of a job whose launcher has told its nodes.
    Numbering(std::int32_t rank, const NodeMap& nodes);

    std::int32_t rank() const noexcept { return rank_; }
    std::int32_t own() const noexcept { return own_; }
    /// Processes on this node: their numbers are below.
    std::int32_t here() const noexcept { return here_; }
    std::int32_t size() const noexcept { return size_; }
    bool is_one_node() const noexcept { return here_ == size_; }
    bool is_guest(std::int32_t number) const noexcept { return number >= size_; }

    std::int32_t number_of(std::int32_t rank) const noexcept {
        return numbers_.empty() || is_guest(rank) ? rank : numbers_[static_cast<std::size_t>(rank)];
    }
    std::int32_t rank_of(std::int32_t number) const noexcept {
        return ranks_.empty() || is_guest(number) ? number
                                                  : ranks_[static_cast<std::size_t>(number)];
    }

    /// The node of a process of this job, by the launcher's number.
    std::int32_t node_of(std::int32_t number) const noexcept {
        return nodes_.empty() ? 0 : nodes_[static_cast<std::size_t>(rank_of(number))];
    }

private:
    std::int32_t rank_, own_, here_, size_;
    NodeMap nodes_;                      ///< empty: one
    std::vector<std::int32_t> numbers_;  ///< by rank
    std::vector<std::int32_t> ranks_;    ///< by number
};

}  // namespace heddle::launch
