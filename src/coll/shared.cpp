// SPDX-License-Identifier: BSD-3-Clause
/// Algorithms in the scratch memory of a communicator (shared_scratch.hpp). Each rank puts its data
/// into its slots, and the others take them from there. Both copy at once, in pieces that stay in
/// their caches.
#include "coll/algorithms.hpp"
#include "coll/fold.hpp"
#include "coll/shared_slots.hpp"

namespace heddle::coll {

void shared_barrier(Schedule& schedule) {
    SharedSlots slots(schedule, 1);
    slots.finish(0);
    for (std::int32_t distance = 1; distance < schedule.size; ++distance)
        slots.wait_for(schedule.after(distance), 0);
}

void shared_bcast(Schedule& schedule, std::byte* data, std::uint64_t bytes, std::int32_t root,
                  bool root_waits) {
    const Pieces pieces(bytes, 1);
    SharedSlots slots(schedule, pieces.number());
    for (std::uint64_t piece = 0; piece < pieces.number(); ++piece) {
        std::byte* const here = data + pieces.start(piece);
        const std::uint64_t now = pieces.bytes(piece);
        const bool first_of_far = root_waits && piece == 0;
        if (schedule.rank == root) {
            schedule.copy(here, slots.own(piece, now), now);
            first_of_far ? slots.release(piece, now) : slots.give(piece, now);
        } else {
            schedule.copy(
                first_of_far ? slots.released(root, piece, now) : slots.of(root, piece, now), here,
                now);
        }
        slots.finish(piece);
    }
}

void shared_reduce(Schedule& schedule, const std::byte* in, std::byte* out, std::uint64_t count,
                   std::int32_t root) {
    const Pieces pieces(count, schedule.reduction.element_bytes);
    SharedSlots slots(schedule, pieces.number());
    RootFold fold(schedule, root, in == out, pieces.bytes(0));
    for (std::uint64_t piece = 0; piece < pieces.number(); ++piece) {
        const std::uint64_t now = pieces.bytes(piece), at = pieces.start(piece);
        if (schedule.rank == root) {
            for (std::int32_t rank = 0; rank < schedule.size; ++rank)
                if (rank != root) (void)slots.of(rank, piece, now);
            fold.write(in + at, out + at, pieces.count(piece),
                       [&](std::int32_t rank) { return slots.place(rank, piece, now); });
        } else {
            schedule.copy(in + at, slots.own(piece, now), now);
            slots.give(piece, now);
        }
        slots.finish(piece);
    }
}

void shared_allreduce(Schedule& schedule, const std::byte* in, std::byte* out,
                      std::uint64_t count) {
    const Pieces pieces(count, schedule.reduction.element_bytes);
    SharedSlots slots(schedule, pieces.number());
    const std::int32_t last = schedule.size - 1;
    const auto give = [&](std::uint64_t piece) {
        const std::uint64_t now = pieces.bytes(piece);
        schedule.copy(in + pieces.start(piece), slots.own(piece, now), now);
        slots.give(piece, now);
    };
    const auto take = [&](std::uint64_t piece) {
        const std::uint64_t now = pieces.bytes(piece), at = pieces.start(piece);
        for (std::int32_t distance = 1; distance <= last; ++distance)
            (void)slots.of(schedule.before(distance), piece, now);
        slots.all_have_given(piece);
        // All ranks combine in one order. In place, the operand of this process is in its slot
        // only. The rightmost rank is an exception: the result grows in the place of its operand.
        const auto operand = [&](std::int32_t rank) -> const std::byte* {
            const bool here = rank == schedule.rank && (in != out || rank == last);
            return here ? in + at : slots.place(rank, piece, now);
        };
        const std::byte* right = operand(last);
        for (std::int32_t rank = last - 1; rank >= 0; --rank) {
            schedule.combine(operand(rank), right, out + at, pieces.count(piece));
            right = out + at;
        }
        slots.finish(piece);
    };
    give_and_take(slots, pieces.number(), give, take);
}

namespace {

/// The elements of two ranks that pass through the slots at once. Each rank combines one half of
/// them.
class OperandHalves {
public:
    OperandHalves(std::uint64_t count, std::uint64_t extent) noexcept
        : lower_(count / 2), upper_(count - lower_), extent_(extent), pieces_(upper_, extent) {}

    /// Returns the pieces of each half; the last of the lower one may be empty.
    std::uint64_t pieces() const noexcept { return pieces_.number(); }
    std::uint64_t start(std::int32_t rank, std::uint64_t piece) const noexcept {
        return pieces_.start(piece) + (rank == 0 ? 0 : lower_ * extent_);
    }
    std::uint64_t count(std::int32_t rank, std::uint64_t piece) const noexcept {
        const std::uint64_t missing = rank == 0 && piece + 1 == pieces() ? upper_ - lower_ : 0;
        return pieces_.count(piece) - missing;
    }
    std::uint64_t bytes(std::int32_t rank, std::uint64_t piece) const noexcept {
        return count(rank, piece) * extent_;
    }

private:
    std::uint64_t lower_, upper_, extent_;
    Pieces pieces_;
};

/// Gives all operands of the other's half before the first result, which may lie in their place.
void allreduce_halves(Schedule& schedule, const std::byte* in, std::byte* out,
                      const OperandHalves& halves) {
    const std::int32_t rank = schedule.rank, other = 1 - rank;
    const std::uint64_t number = halves.pieces();
    SharedSlots slots(schedule, 2 * number);
    for (std::uint64_t piece = 0; piece < number; ++piece) {
        const std::uint64_t now = halves.bytes(other, piece);
        schedule.copy(in + halves.start(other, piece), slots.own(piece, now), now);
        slots.give(piece, now);
    }
    for (std::uint64_t piece = 0; piece < number; ++piece) {
        const std::uint64_t now = halves.bytes(rank, piece), at = halves.start(rank, piece);
        const std::byte* const theirs = slots.of(other, piece, now);
        slots.all_have_given(piece);
        std::byte* const given = slots.own(number + piece, now);
        const std::byte* const left = rank == 0 ? in + at : theirs;
        const std::byte* const right = rank == 0 ? theirs : in + at;
        // The result must not replace a left operand.
        const bool apart = rank == 0 && in == out;
        std::byte* const result = apart ? given : out + at;
        schedule.combine(left, right, result, halves.count(rank, piece));
        schedule.copy(result, apart ? out + at : given, now);
        slots.give(number + piece, now);
        slots.finish(piece);
    }
    for (std::uint64_t piece = 0; piece < number; ++piece) {
        const std::uint64_t now = halves.bytes(other, piece);
        schedule.copy(slots.of(other, number + piece, now), out + halves.start(other, piece), now);
        slots.finish(number + piece);
    }
}

}  // namespace

void halved_allreduce(Schedule& schedule, const std::byte* in, std::byte* out,
                      std::uint64_t count) {
    if (schedule.size != 2) return shared_allreduce(schedule, in, out, count);
    const std::uint64_t extent = schedule.reduction.element_bytes;
    // No more than a rank may give ahead.
    const std::uint64_t most = 2 * SharedSlots::ahead(2) * (ScratchLayout::slot_bytes / extent);
    for (std::uint64_t first = 0; first < count; first += most) {
        const OperandHalves halves(std::min(most, count - first), extent);
        allreduce_halves(schedule, in + first * extent, out + first * extent, halves);
    }
}

void shared_allgather(Schedule& schedule, Block mine, const Blocks& all) {
    std::byte* const here = all[schedule.rank].data;
    const Pieces pieces(mine.bytes, 1);
    SharedSlots slots(schedule, pieces.number());
    const auto give = [&](std::uint64_t piece) {
        const std::uint64_t now = pieces.bytes(piece);
        schedule.copy(mine.data + pieces.start(piece), slots.own(piece, now), now);
        slots.give(piece, now);
        // Only now: the others wait for the given piece.
        schedule.copy(mine.data + pieces.start(piece), here + pieces.start(piece), now);
    };
    const auto take = [&](std::uint64_t piece) {
        const std::uint64_t now = pieces.bytes(piece);
        for (std::int32_t distance = 1; distance < schedule.size; ++distance) {
            const std::int32_t from = schedule.before(distance);
            schedule.copy(slots.of(from, piece, now), all[from].data + pieces.start(piece), now);
        }
        slots.all_have_given(piece);
        slots.finish(piece);
    };
    give_and_take(slots, pieces.number(), give, take);
}

void shared_allgatherv(Schedule& schedule, const Blocks& all) {
    std::uint64_t longest = 0;
    for (std::int32_t rank = 0; rank < schedule.size; ++rank)
        longest = std::max(longest, all[rank].bytes);
    const Pieces pieces(longest, 1);
    SharedSlots slots(schedule, pieces.number());
    const auto part = [&](std::int32_t rank, std::uint64_t piece) {
        const std::uint64_t first = std::min(pieces.start(piece), all[rank].bytes);
        return Block{all[rank].data + first,
                     std::min(pieces.bytes(piece), all[rank].bytes - first)};
    };
    const auto give = [&](std::uint64_t piece) {
        const Block mine = part(schedule.rank, piece);
        if (mine.bytes == 0) return;
        schedule.copy(mine.data, slots.own(piece, mine.bytes), mine.bytes);
        slots.give(piece, mine.bytes);
    };
    const auto take = [&](std::uint64_t piece) {
        for (std::int32_t distance = 1; distance < schedule.size; ++distance) {
            const std::int32_t from = schedule.before(distance);
            const Block theirs = part(from, piece);
            if (theirs.bytes != 0)
                schedule.copy(slots.of(from, piece, theirs.bytes), theirs.data, theirs.bytes);
        }
        slots.finish(piece);
    };
    give_and_take(slots, pieces.number(), give, take);
}

namespace {

/// Exchanges all blocks at once: those of a process fit into its slot.
void small_alltoall(Schedule& schedule, const Blocks& out, const Blocks& in) {
    SharedSlots slots(schedule, 1);
    const std::uint64_t each = in[0].bytes;
    const std::uint64_t all = each * static_cast<std::uint64_t>(schedule.size);
    const auto offset = [&](std::int32_t rank) { return static_cast<std::uint64_t>(rank) * each; };
    std::byte* const own = slots.own(0, all);
    for (std::int32_t distance = 1; distance < schedule.size; ++distance) {
        const std::int32_t to = schedule.after(distance);
        schedule.copy(out[to].data, own + offset(to), each);
    }
    slots.give(0, all);
    schedule.copy(out[schedule.rank].data, in[schedule.rank].data, each);
    for (std::int32_t distance = 1; distance < schedule.size; ++distance) {
        const std::int32_t from = schedule.before(distance);
        schedule.copy(slots.of(from, 0, all) + offset(schedule.rank), in[from].data, each);
    }
    slots.all_have_given(0);
    slots.finish(0);
}

}  // namespace

void shared_alltoall(Schedule& schedule, const Blocks& given, const Blocks& in, bool in_place) {
    const std::uint64_t each = in[0].bytes;
    if (each <= ScratchLayout::slot_bytes / static_cast<std::uint64_t>(schedule.size))
        return small_alltoall(schedule, given, in);
    // With two ranks, each gives a piece before it takes the one that goes to its place.
    const Blocks out = in_place && schedule.size > 2 ? copied(schedule, given) : given;
    const Pieces pieces(each, 1);
    const std::uint64_t number = pieces.number();
    SharedSlots slots(schedule, number * static_cast<std::uint64_t>(schedule.size - 1));
    // One round after the other. In each, every rank gives to one and takes from one.
    const auto distance = [&](std::uint64_t turn) {
        return static_cast<std::int32_t>(turn / number) + 1;
    };
    const auto give = [&](std::uint64_t turn) {
        const std::uint64_t piece = turn % number, now = pieces.bytes(piece);
        const std::byte* const block = out[schedule.after(distance(turn))].data;
        schedule.copy(block + pieces.start(piece), slots.own(turn, now), now);
        slots.give(turn, now);
    };
    const auto take = [&](std::uint64_t turn) {
        const std::uint64_t piece = turn % number, now = pieces.bytes(piece);
        const std::int32_t from = schedule.before(distance(turn));
        schedule.copy(slots.of(from, turn, now), in[from].data + pieces.start(piece), now);
        slots.finish(turn);
    };
    give_and_take(slots, number * static_cast<std::uint64_t>(schedule.size - 1), give, take);
    schedule.copy(out[schedule.rank].data, in[schedule.rank].data, each);
}

}  // namespace heddle::coll
