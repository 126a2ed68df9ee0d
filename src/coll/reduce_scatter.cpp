// SPDX-License-Identifier: BSD-3-Clause
#include "coll/algorithms.hpp"

#include <algorithm>

namespace heddle::coll {

std::span<const std::uint64_t> even_pieces(Schedule& schedule, std::uint64_t count) {
    const auto size = static_cast<std::uint64_t>(schedule.size);
    const auto starts = schedule.scratch_of<std::uint64_t>(size + 1);
    const std::uint64_t each = count / size;
    const std::uint64_t larger = count % size;
    for (std::uint64_t i = 0; i <= size; ++i) starts[i] = i * each + std::min(i, larger);
    return starts;
}

void direct_reduce_scatter(Schedule& schedule, const std::byte* in, std::byte* result,
                           std::span<const std::uint64_t> starts, bool reuse) {
    const std::int32_t size = schedule.size;
    const std::int32_t rank = schedule.rank;
    const auto extent = schedule.reduction.element_bytes;
    const auto length = [&](std::int32_t of) {
        return starts[static_cast<std::size_t>(of) + 1] - starts[static_cast<std::size_t>(of)];
    };
    const auto piece = [&](std::int32_t of) {
        return in + starts[static_cast<std::size_t>(of)] * extent;
    };

    const std::uint64_t count = length(rank);
    const std::uint64_t bytes = count * extent;
    const std::int32_t last = size - 1;
    // The rightmost operand is where the result grows. Only if nobody reads the input where the
    // result will be can it be that place from the start.
    const bool in_result = !reuse;
    std::byte* sum = in_result ? result : nullptr;
    if (rank == last) {
        if (in_result)
            schedule.copy(piece(rank), result, bytes);
        else
            sum = const_cast<std::byte*>(piece(rank));
    } else if (sum == nullptr) {
        sum = schedule.scratch(bytes);
    }

    std::byte* others = schedule.scratch(bytes * static_cast<std::uint64_t>(size - 1));
    const auto operand = [&](std::int32_t of) -> std::byte* {
        if (of == last) return sum;
        return others + bytes * static_cast<std::uint64_t>(of < rank ? of : of - 1);
    };
    for (std::int32_t distance = 1; distance < size; ++distance) {
        const std::int32_t from = schedule.before(distance);
        schedule.receive(operand(from), bytes, from);
    }
    for (std::int32_t distance = 1; distance < size; ++distance) {
        const std::int32_t to = schedule.after(distance);
        schedule.send(piece(to), length(to) * extent, to);
    }
    schedule.wait();
    for (std::int32_t of = last; of-- > 0;)
        schedule.combine(of == rank ? piece(rank) : operand(of), sum, count);
    schedule.copy(sum, result, bytes);
}

}  // namespace heddle::coll
