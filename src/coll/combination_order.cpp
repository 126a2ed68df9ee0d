// SPDX-License-Identifier: BSD-3-Clause
#include "coll/combination_order.hpp"

#include <algorithm>
#include <bit>

#include "coll/algorithms.hpp"

namespace heddle::coll {
namespace {

using Operands = std::span<std::byte*>;

/// Combines two operands. The result is in the place of the right one.
void combine(Schedule& schedule, std::byte*& left, std::byte* right, std::uint64_t count) {
    schedule.combine(left, right, count);
    left = right;
}

/// Combines from the last operand down.
std::byte* fold(Schedule& schedule, Operands operands, std::uint64_t count, std::size_t pivot) {
    std::byte* const sum = operands[pivot];
    for (std::size_t rank = operands.size(); rank-- > 0;)
        if (rank != pivot) schedule.combine(operands[rank], sum, count);
    return sum;
}

/// Combines neighbours at distance 1, then at 2, 4, ...: a tree whose first operand is its root.
std::byte* fold_pairs(Schedule& schedule, Operands operands, std::uint64_t count) {
    for (std::size_t distance = 1; distance < operands.size(); distance *= 2)
        for (std::size_t at = 0; at + distance < operands.size(); at += 2 * distance)
            combine(schedule, operands[at], operands[at + distance], count);
    return operands[0];
}

/// Combines as doubling_allreduce(): surplus pairs begin as one.
std::byte* fold_doubling(Schedule& schedule, Operands operands, std::uint64_t count) {
    const std::size_t active = std::bit_floor(operands.size());
    const std::size_t surplus = operands.size() - active;
    for (std::size_t place = 0; place < active; ++place) {
        if (place < surplus) {
            combine(schedule, operands[2 * place], operands[2 * place + 1], count);
            operands[place] = operands[2 * place];
        } else {
            operands[place] = operands[place + surplus];
        }
    }
    return fold_pairs(schedule, operands.first(active), count);
}

/// Combines as travelling_allreduce(): piece r of all elements begins with rank r.
std::byte* fold_in_turns(Schedule& schedule, Operands operands, const Elements& elements) {
    const std::uint64_t extent = schedule.reduction.element_bytes;
    const std::span<const std::uint64_t> starts = even_pieces(schedule, elements.all);
    std::byte* const result = schedule.scratch(elements.count * extent);
    const auto place = [&](std::uint64_t element) {  // of these elements
        return std::clamp(element, elements.first, elements.first + elements.count) -
            elements.first;
    };
    for (std::size_t piece = 0; piece < operands.size(); ++piece) {
        const std::uint64_t at = place(starts[piece]) * extent;
        const std::uint64_t number = place(starts[piece + 1]) - place(starts[piece]);
        schedule.copy(operands[piece] + at, result + at, number * extent);
        for (std::size_t turn = 1; turn < operands.size(); ++turn)
            schedule.combine(operands[(piece + turn) % operands.size()] + at, result + at, number);
    }
    return result;
}

}  // namespace

std::byte* combine_all(Schedule& schedule, CombinationOrder order, std::span<std::byte*> operands,
                       const Elements& elements, std::int32_t root) {
    const std::uint64_t count = elements.count;
    const auto first = static_cast<std::size_t>(root);
    switch (order) {
        case CombinationOrder::doubling: return fold_doubling(schedule, operands, count);
        case CombinationOrder::binomial:
            std::rotate(operands.begin(), operands.begin() + root, operands.end());
            return fold_pairs(schedule, operands, count);
        case CombinationOrder::turns: return fold_in_turns(schedule, operands, elements);
        case CombinationOrder::ordered: return fold_pairs(schedule, operands, count);
        case CombinationOrder::at_root:
            return fold(schedule, operands, count,
                        schedule.reduction.commutative() ? first : operands.size() - 1);
        default: return fold(schedule, operands, count, operands.size() - 1);
    }
}

}  // namespace heddle::coll
