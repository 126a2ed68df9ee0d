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

namespace {

/// One process's part of direct_reduce_scatter().
class Combiner {
public:
    Combiner(Schedule& schedule, const std::byte* in, std::byte* result,
             std::span<const std::uint64_t> starts, bool reuse)
        : schedule_(schedule),
          in_(in),
          result_(result),
          starts_(starts),
          last_(schedule.size - 1),
          extent_(schedule.reduction.element_bytes),
          count_(length(schedule.rank)) {
        // The result grows in the place of one of the operands, normally that of the last rank, the
        // rightmost.
        const bool own = schedule.rank == last_;
        const bool free_choice = schedule.reduction.commutative();
        std::byte* const mine = const_cast<std::byte*>(piece(schedule.rank));
        if (reuse && mine == result && (own || free_choice)) {
            pivot_ = schedule.rank;  // its operand may be overwritten, and is sent to no rank
            sum_ = mine;
        } else if (reuse) {
            // The result lies on operands that others need, or that stay as they are.
            pivot_ = last_;
            sum_ = schedule.scratch(count_ * extent_);
        } else {
            pivot_ = own && free_choice && last_ > 0 ? last_ - 1 : last_;
            sum_ = result;
        }
        if (pivot_ == schedule.rank) schedule.copy(mine, sum_, count_ * extent_);
    }

    void write() {
        // The rank combines in segments that stay in the cache between their arrival and their
        // combination. All ranks have the same number: that of the largest piece.
        const auto others = static_cast<std::uint64_t>(std::max(last_, 1));
        const std::uint64_t segment = std::max<std::uint64_t>(most_bytes / others, fewest_bytes) /
                std::max<std::uint64_t>(extent_, 1) +
            1;
        std::uint64_t largest = 0;
        for (std::int32_t of = 0; of <= last_; ++of) largest = std::max(largest, length(of));
        operands_ = schedule_.scratch(std::min(segment, count_) * extent_ * others);
        for (std::uint64_t first = 0; first == 0 || first < largest; first += segment)
            write(first, segment);
        schedule_.copy(sum_, result_, count_ * extent_);
    }

private:
    static constexpr std::uint64_t most_bytes = 256 * 1024;
    static constexpr std::uint64_t fewest_bytes = 32 * 1024;

    std::uint64_t length(std::int32_t of) const noexcept {
        return starts_[static_cast<std::size_t>(of) + 1] - starts_[static_cast<std::size_t>(of)];
    }
    const std::byte* piece(std::int32_t of) const noexcept {
        return in_ + starts_[static_cast<std::size_t>(of)] * extent_;
    }
    /// Returns the elements of rank `of`'s piece in the segment that begins at `first`.
    std::uint64_t part(std::int32_t of, std::uint64_t first, std::uint64_t segment) const noexcept {
        return first < length(of) ? std::min(segment, length(of) - first) : 0;
    }

    void write(std::uint64_t first, std::uint64_t segment) {
        const std::int32_t rank = schedule_.rank;
        const std::uint64_t count = part(rank, first, segment);
        const std::uint64_t bytes = count * extent_;
        const std::uint64_t offset = first * extent_;
        const auto operand = [&](std::int32_t of) -> std::byte* {
            if (of == pivot_) return sum_ + offset;
            return operands_ + bytes * static_cast<std::uint64_t>(of < rank ? of : of - 1);
        };
        for (std::int32_t distance = 1; distance <= last_ && count != 0; ++distance) {
            const std::int32_t from = schedule_.before(distance);
            schedule_.receive(operand(from), bytes, from);
        }
        for (std::int32_t distance = 1; distance <= last_; ++distance) {
            const std::int32_t to = schedule_.after(distance);
            if (const std::uint64_t theirs = part(to, first, segment))
                schedule_.send(piece(to) + offset, theirs * extent_, to);
        }
        schedule_.wait();
        for (std::int32_t of = last_; of >= 0; --of)
            if (of != pivot_)
                schedule_.combine(of == rank ? piece(rank) + offset : operand(of), sum_ + offset,
                                  count);
    }

    Schedule& schedule_;
    const std::byte* in_;
    std::byte* result_;
    std::span<const std::uint64_t> starts_;
    std::int32_t last_;
    std::uint64_t extent_;
    std::uint64_t count_;  ///< elements of this process's piece
    std::int32_t pivot_;   ///< the rank in whose operand the result grows
    std::byte* sum_;       ///< that place
    std::byte* operands_ = nullptr;
};

}  // namespace

void direct_reduce_scatter(Schedule& schedule, const std::byte* in, std::byte* result,
                           std::span<const std::uint64_t> starts, bool reuse) {
    Combiner(schedule, in, result, starts, reuse).write();
}

}  // namespace heddle::coll
