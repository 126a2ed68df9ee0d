// SPDX-License-Identifier: BSD-3-Clause
#include <bit>

#include "coll/accumulator.hpp"
#include "coll/algorithms.hpp"

namespace heddle::coll {

void direct_allreduce(Schedule& schedule, const std::byte* in, std::byte* out,
                      std::uint64_t count) {
    const std::int32_t rank = schedule.rank;
    const std::int32_t last = schedule.size - 1;
    const std::uint64_t bytes = count * schedule.reduction.element_bytes;
    std::byte* others = schedule.scratch(bytes * static_cast<std::uint64_t>(schedule.size));
    const auto slot = [&](std::int32_t of) {
        return others + bytes * static_cast<std::uint64_t>(of);
    };
    // The result grows in the place of the rightmost operand. The last rank would have to copy its
    // own first. If two operands may change places, it takes the operand before instead.
    const bool own = rank == last && in != out && last > 0 && schedule.reduction.commutative();
    const std::int32_t pivot = own ? last - 1 : last;
    std::byte* sum = in == out && rank != last ? slot(last) : out;
    for (std::int32_t distance = 1; distance <= last; ++distance) {
        const std::int32_t from = schedule.before(distance);
        schedule.receive(from == pivot ? sum : slot(from), bytes, from);
    }
    for (std::int32_t distance = 1; distance <= last; ++distance)
        schedule.send(in, bytes, schedule.after(distance));
    schedule.wait();
    if (rank == pivot) schedule.copy(in, sum, bytes);
    for (std::int32_t of = last; of >= 0; --of)
        if (of != pivot) schedule.combine(of == rank ? in : slot(of), sum, count);
    schedule.copy(sum, out, bytes);
}

void doubling_allreduce(Schedule& schedule, const std::byte* in, std::byte* out,
                        std::uint64_t count) {
    const auto all = static_cast<std::uint32_t>(schedule.size);
    const auto active = static_cast<std::int32_t>(std::bit_floor(all));
    const std::int32_t surplus = schedule.size - active;  // so many pairs begin as one
    const std::int32_t rank = schedule.rank;
    Accumulator sum(schedule, in, out, count);
    std::int32_t place = rank - surplus;  // among the active
    if (rank < 2 * surplus) {
        if (rank % 2 == 0) {
            schedule.send(in, sum.bytes(), rank + 1);
            schedule.wait();
            schedule.receive(out, sum.bytes(), rank + 1);
            return;
        }
        schedule.receive(sum.spare(), sum.bytes(), rank - 1);
        schedule.wait();
        sum.combine_left();
        place = rank / 2;
    }
    for (std::int32_t distance = 1; distance < active; distance *= 2) {
        const std::int32_t other = place ^ distance;
        const std::int32_t peer = other < surplus ? 2 * other + 1 : other + surplus;
        schedule.receive(sum.spare(), sum.bytes(), peer);
        schedule.send(sum.value(), sum.bytes(), peer);
        schedule.wait();
        if (other < place)
            sum.combine_left();
        else
            sum.combine_right();
    }
    sum.finish(out);
    if (rank < 2 * surplus) schedule.send(out, sum.bytes(), rank - 1);
}

void scattered_allreduce(Schedule& schedule, const std::byte* in, std::byte* out,
                         std::uint64_t count) {
    const auto extent = schedule.reduction.element_bytes;
    const std::span<const std::uint64_t> starts = even_pieces(schedule, count);
    const auto pieces = schedule.scratch_of<Block>(static_cast<std::size_t>(schedule.size));
    for (std::size_t i = 0; i < pieces.size(); ++i)
        pieces[i] = {out + starts[i] * extent, (starts[i + 1] - starts[i]) * extent};
    const Blocks all(pieces);
    direct_reduce_scatter(schedule, in, all[schedule.rank].data, starts, in == out);
    direct_allgather(schedule, all);
}

}  // namespace heddle::coll
