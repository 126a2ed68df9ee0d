// SPDX-License-Identifier: BSD-3-Clause
#include "coll/accumulator.hpp"
#include "coll/algorithms.hpp"
#include "coll/fold.hpp"
#include "coll/tree.hpp"

namespace heddle::coll {
namespace {

/// Combines the operands below this process. A child's operands stand to the right of those
/// combined before.
void gather_operands(Schedule& schedule, const Tree& tree, Accumulator& sum) {
    tree.each_child([&](std::int32_t child, std::int32_t) {
        schedule.receive(sum.spare(), sum.bytes(), child);
        schedule.wait();
        sum.combine_right();
    });
}

}  // namespace

void binomial_reduce(Schedule& schedule, const std::byte* in, std::byte* out, std::uint64_t count,
                     std::int32_t root) {
    const Tree tree(schedule, root);
    Accumulator sum(schedule, in, tree.is_root() ? out : nullptr, count);
    gather_operands(schedule, tree, sum);
    if (tree.is_root())
        sum.finish(out);
    else
        schedule.send(sum.value(), sum.bytes(), tree.parent());
}

void direct_reduce(Schedule& schedule, const std::byte* in, std::byte* out, std::uint64_t count,
                   std::int32_t root) {
    const std::uint64_t bytes = count * schedule.reduction.element_bytes;
    if (schedule.rank != root) return schedule.send(in, bytes, root);
    std::byte* const operands = schedule.scratch(bytes * static_cast<std::uint64_t>(schedule.size));
    const auto operand = [&](std::int32_t rank) {
        return operands + static_cast<std::uint64_t>(rank) * bytes;
    };
    for (std::int32_t distance = 1; distance < schedule.size; ++distance) {
        const std::int32_t from = schedule.before(distance);
        schedule.receive(operand(from), bytes, from);
    }
    schedule.wait();
    RootFold(schedule, root, in == out, bytes).write(in, out, count, operand);
}

void ordered_reduce(Schedule& schedule, const std::byte* in, std::byte* out, std::uint64_t count,
                    std::int32_t root) {
    const Tree tree(schedule, 0);
    const bool is_root = schedule.rank == root;
    Accumulator sum(schedule, in, is_root ? out : nullptr, count);
    gather_operands(schedule, tree, sum);
    if (!tree.is_root())
        schedule.send(sum.value(), sum.bytes(), tree.parent());
    else if (!is_root)
        schedule.send(sum.value(), sum.bytes(), root);
    else
        sum.finish(out);
    if (is_root && !tree.is_root()) {
        schedule.wait();  // for messages that still send from `out`
        schedule.receive(out, sum.bytes(), 0);
    }
}

void scattered_reduce(Schedule& schedule, const std::byte* in, std::byte* out, std::uint64_t count,
                      std::int32_t root) {
    const auto extent = schedule.reduction.element_bytes;
    const std::span<const std::uint64_t> starts = even_pieces(schedule, count);
    const auto bytes_of = [&](std::int32_t rank) {
        const auto i = static_cast<std::size_t>(rank);
        return (starts[i + 1] - starts[i]) * extent;
    };
    const auto piece = [&](std::int32_t rank) {
        return Block{out + starts[static_cast<std::size_t>(rank)] * extent, bytes_of(rank)};
    };
    if (schedule.rank == root) {
        direct_reduce_scatter(schedule, in, piece(root).data, starts, in == out);
        schedule.wait();
        for (std::int32_t rank = 0; rank < schedule.size; ++rank)
            if (rank != root) schedule.receive(piece(rank).data, piece(rank).bytes, rank);
        return;
    }
    const std::uint64_t bytes = bytes_of(schedule.rank);
    std::byte* result = schedule.scratch(bytes);
    direct_reduce_scatter(schedule, in, result, starts, false);
    schedule.send(result, bytes, root);
}

}  // namespace heddle::coll
