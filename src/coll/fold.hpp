// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// All operands at the root, combined there one after the other.
///
/// Order          if operands may change places: the root's own, to which the others are added from
///                the last rank down. Otherwise from the last rank down in the order of ranks.

#include <cstdint>

#include "coll/schedule.hpp"

namespace heddle::coll {

class RootFold {
public:
    /// Combines operands of `most_bytes` at a time. Does nothing in processes other than the root.
    RootFold(Schedule& schedule, std::int32_t root, bool in_place, std::uint64_t most_bytes)
        : schedule_(schedule), root_(root), last_(schedule.size - 1) {
        if (schedule.rank != root || schedule.reduction.commutative()) return;
        // The operand in place is not the rightmost, and would be overwritten.
        if (in_place && root != last_) apart_ = schedule.scratch(most_bytes);
    }

    /// Writes the steps. `operand(rank)` returns the place of another rank's operand.
    template <class Operand>
    void write(const std::byte* in, std::byte* out, std::uint64_t count, Operand&& operand) {
        const std::uint64_t bytes = count * schedule_.reduction.element_bytes;
        const std::int32_t pivot = schedule_.reduction.commutative() ? root_ : last_;
        std::byte* const sum = apart_ != nullptr ? apart_ : out;
        const auto of = [&](std::int32_t rank) -> const std::byte* {
            return rank == root_ ? in : operand(rank);
        };
        const std::byte* right = of(pivot);
        for (std::int32_t rank = last_; rank >= 0; --rank) {
            if (rank == pivot) continue;
            schedule_.combine(of(rank), right, sum, count);
            right = sum;
        }
        schedule_.copy(right, out, bytes);
    }

private:
    Schedule& schedule_;
    std::int32_t root_;
    std::int32_t last_;
    std::byte* apart_ = nullptr;
};

}  // namespace heddle::coll
