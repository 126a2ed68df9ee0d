// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The binomial tree over ranks that are counted from its root.
///
/// Below position v lie v + 1 ... v + span - 1. The span is v's lowest bit, or the whole tree for
/// the root. Children are v + 1, v + 2, v + 4, ..., each with the span of its distance.

#include <algorithm>
#include <cstdint>

#include "coll/schedule.hpp"

namespace heddle::coll {

class Tree {
public:
    Tree(const Schedule& schedule, std::int32_t root) noexcept
        : size_(schedule.size), root_(root), position_(schedule.before(root)) {
        span_ = 1;
        while (span_ < size_ && (position_ & span_) == 0) span_ *= 2;
    }

    bool is_root() const noexcept { return position_ == 0; }
    std::int32_t position() const noexcept { return position_; }
    std::int32_t parent() const noexcept { return rank_of(position_ - span_); }
    std::int32_t rank_of(std::int32_t position) const noexcept {
        return (position + root_) % size_;
    }
    /// Return the number of processes at and below this one, or a child at `distance`.
    std::int32_t members() const noexcept { return std::min(span_, size_ - position_); }
    std::int32_t members(std::int32_t distance) const noexcept {
        return std::min(distance, size_ - position_ - distance);
    }

    /// Call function(rank, distance) for each child, the nearest child first, or the farthest.
    template <class Function>
    void each_child(Function&& function) const {
        for (std::int32_t distance = 1; distance < span_; distance *= 2)
            if (position_ + distance < size_) function(rank_of(position_ + distance), distance);
    }
    template <class Function>
    void each_child_farthest_first(Function&& function) const {
        for (std::int32_t distance = span_ / 2; distance > 0; distance /= 2)
            if (position_ + distance < size_) function(rank_of(position_ + distance), distance);
    }

private:
    std::int32_t size_;
    std::int32_t root_;
    std::int32_t position_;
    std::int32_t span_;
};

}  // namespace heddle::coll
