// SPDX-License-Identifier: BSD-3-Clause
/// Reductions whose pieces grow in one place each, to which the ranks come in turn.
#include <algorithm>

#include "coll/algorithms.hpp"
#include "coll/shared_slots.hpp"

namespace heddle::coll {
namespace {

constexpr std::int32_t everybody = -1;

/// The pieces of a part of the operand that fits into a half of the scratch memory. Piece r begins
/// with rank r, and is complete with the rank before it.
class Part {
public:
    Part(Schedule& schedule, std::uint64_t count)
        : extent_(schedule.reduction.element_bytes), starts_(even_pieces(schedule, count)) {}

    std::uint64_t start(std::int32_t piece) const noexcept {
        return starts_[static_cast<std::size_t>(piece)] * extent_;
    }
    std::uint64_t bytes(std::int32_t piece) const noexcept {
        return start(piece + 1) - start(piece);
    }
    std::uint64_t elements(std::int32_t piece) const noexcept { return bytes(piece) / extent_; }
    std::uint64_t all_bytes() const noexcept { return starts_.back() * extent_; }

private:
    std::uint64_t extent_;
    std::span<const std::uint64_t> starts_;
};

/// Pieces that grow in half of the scratch memory. A rank passes a piece by saying that it is the
/// next rank's turn.
class InScratch {
public:
    InScratch(Schedule& schedule, const Part&)
        : schedule_(schedule),
          slots_(schedule, static_cast<std::uint64_t>(schedule.size) + 1),
          half_(schedule.communicator.scratch.halves++ % 2) {
        std::uint64_t& used = layout().standing(schedule.rank).half_used[half_];
        for (std::int32_t distance = 1; used != 0 && distance < schedule.size; ++distance) {
            const std::int32_t other = schedule.after(distance);
            schedule.await(layout().standing(other).word, used, 0, other);
        }
        used = schedule.communicator.scratch.turn;
    }
    std::byte* sum() const noexcept { return layout().half(half_); }
    void pass(std::int32_t turn) {
        slots_.finish(static_cast<std::uint64_t>(turn) - 1);
        slots_.wait_for(schedule_.before(1), static_cast<std::uint64_t>(turn) - 1);
    }
    void collect(std::int32_t root) {
        slots_.finish(last());
        if (root != everybody && root != schedule_.rank) return;
        for (std::int32_t distance = 1; distance < schedule_.size; ++distance)
            slots_.wait_for(schedule_.after(distance), last());
    }
    void end() { slots_.finish(last() + 1); }

private:
    ScratchLayout layout() const noexcept {
        return {schedule_.communicator.scratch.memory, schedule_.size};
    }
    std::uint64_t last() const noexcept { return static_cast<std::uint64_t>(schedule_.size) - 1; }

    Schedule& schedule_;
    SharedSlots slots_;
    std::uint32_t half_;
};

/// Pieces that travel in messages.
class InMessages {
public:
    InMessages(Schedule& schedule, const Part& part)
        : schedule_(schedule), part_(part), sum_(schedule.scratch(part.all_bytes())) {}

    std::byte* sum() const noexcept { return sum_; }
    void pass(std::int32_t turn) {
        receive(schedule_.before(turn), schedule_.before(1));
        send(schedule_.before(turn - 1), schedule_.after(1));
        schedule_.wait();
    }
    void collect(std::int32_t root) {
        for (std::int32_t distance = 1; distance < schedule_.size; ++distance) {
            const std::int32_t from = schedule_.before(distance);
            if (root == everybody || root == schedule_.rank)
                receive((from + 1) % schedule_.size, from);
        }
        for (std::int32_t distance = 1; distance < schedule_.size; ++distance) {
            const std::int32_t to = schedule_.after(distance);
            if (root == everybody || root == to) send(schedule_.after(1), to);
        }
        schedule_.wait();
    }
    void end() {}

private:
    std::byte* place(std::int32_t piece) const noexcept { return sum_ + part_.start(piece); }
    void send(std::int32_t piece, std::int32_t to) {
        schedule_.send(place(piece), part_.bytes(piece), to);
    }
    void receive(std::int32_t piece, std::int32_t from) {
        schedule_.receive(place(piece), part_.bytes(piece), from);
    }

    Schedule& schedule_;
    const Part& part_;
    std::byte* sum_;
};

template <class Way>
void accumulate_part(Schedule& schedule, const std::byte* in, std::byte* out, std::uint64_t count,
                     std::int32_t root) {
    const Part part(schedule, count);
    Way way(schedule, part);
    const std::int32_t rank = schedule.rank;
    const auto place = [&](std::int32_t piece) { return way.sum() + part.start(piece); };
    schedule.copy(in + part.start(rank), place(rank), part.bytes(rank));
    for (std::int32_t turn = 1; turn < schedule.size; ++turn) {
        const std::int32_t piece = schedule.before(turn);
        way.pass(turn);
        schedule.combine(in + part.start(piece), place(piece), part.elements(piece));
    }
    way.collect(root);
    if (root == everybody || root == rank) schedule.copy(way.sum(), out, part.all_bytes());
    way.end();
}

/// Combines operands for `root`, or for all ranks.
template <class Way>
void accumulate(Schedule& schedule, const std::byte* in, std::byte* out, std::uint64_t count,
                std::int32_t root) {
    const std::uint64_t extent = schedule.reduction.element_bytes;
    const std::uint64_t most = std::max<std::uint64_t>(ScratchLayout::half_bytes / extent, 1);
    for (std::uint64_t first = 0; first < count; first += most) {
        std::byte* const result = out == nullptr ? nullptr : out + first * extent;
        accumulate_part<Way>(schedule, in + first * extent, result, std::min(most, count - first),
                             root);
    }
}

}  // namespace

void accumulated_reduce(Schedule& schedule, const std::byte* in, std::byte* out,
                        std::uint64_t count, std::int32_t root) {
    accumulate<InScratch>(schedule, in, out, count, root);
}

void travelling_reduce(Schedule& schedule, const std::byte* in, std::byte* out, std::uint64_t count,
                       std::int32_t root) {
    accumulate<InMessages>(schedule, in, out, count, root);
}

void accumulated_allreduce(Schedule& schedule, const std::byte* in, std::byte* out,
                           std::uint64_t count) {
    accumulate<InScratch>(schedule, in, out, count, everybody);
}

void travelling_allreduce(Schedule& schedule, const std::byte* in, std::byte* out,
                          std::uint64_t count) {
    accumulate<InMessages>(schedule, in, out, count, everybody);
}

}  // namespace heddle::coll
