// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The order in which algorithms combine the operands of all ranks. A process that has all of them
/// in one place can follow it.

#include <cstddef>
#include <cstdint>
#include <span>

#include "coll/schedule.hpp"

namespace heddle::coll {

enum class CombinationOrder : std::uint8_t {
    unknown,   ///< or no process has all operands in one place
    any,       ///< it makes no difference to the result
    last,      ///< x0 op (x1 op (... op xn)): shared_allreduce(), direct_allreduce()
    at_root,   ///< RootFold: shared_reduce(), direct_reduce()
    doubling,  ///< doubling_allreduce()
    binomial,  ///< binomial_reduce(), whose root is first
    ordered,   ///< ordered_reduce(): the same with rank 0 first
    turns,     ///< travelling_allreduce(): each piece begins with another rank
};

/// Some elements of operands that have `all`.
struct Elements {
    std::uint64_t first, count, all;
};

/// Combines these elements of operands, by rank, and returns the place of the result. `operands`
/// point to the first of them, and are overwritten. The root matters for RootFold and for trees.
std::byte* combine_all(Schedule& schedule, CombinationOrder order, std::span<std::byte*> operands,
                       const Elements& elements, std::int32_t root);

}  // namespace heddle::coll
