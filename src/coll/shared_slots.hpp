// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The steps in a schedule of algorithms in scratch memory: data in pieces, with a turn and a slot
/// for each.
///
/// An object      stands for the turns of one call, which all ranks take alike. Pieces are counted
///                from 0.
/// Order          a rank calls give() before any rank takes of the piece, and finish() once it
///                needs no more of it. Pieces come one after the other. A rank gives at most
///                ahead() pieces more than it has finished.

#include <algorithm>
#include <cstdint>

#include "coll/schedule.hpp"
#include "coll/shared_scratch.hpp"

namespace heddle::coll {

class SharedSlots {
public:
    SharedSlots(Schedule& schedule, std::uint64_t pieces) noexcept
        : schedule_(schedule),
          scratch_(*schedule.shared),
          layout_(scratch_.memory, schedule.size),
          first_(scratch_.turn + 1) {
        scratch_.turn += pieces;
    }

    /// Returns the place for data that this process gives, once no rank needs the data that were
    /// there.
    std::byte* own(std::uint64_t piece, std::uint64_t bytes) {
        if (turn(piece) > scratch_.room) [[unlikely]]
            make_room(turn(piece));
        return place(schedule_.rank, piece, bytes);
    }
    /// Says that the data are there.
    void give(std::uint64_t piece, std::uint64_t bytes) {
        schedule_.signal(layout_.head(schedule_.rank, turn(piece)).word, turn(piece), bytes);
    }
    /// Waits for the piece of another rank, and returns its place.
    const std::byte* of(std::int32_t rank, std::uint64_t piece, std::uint64_t bytes) {
        schedule_.await(layout_.head(rank, turn(piece)).word, turn(piece), bytes, rank);
        return place(rank, piece, bytes);
    }
    /// Returns the place of a piece.
    std::byte* place(std::int32_t rank, std::uint64_t piece, std::uint64_t bytes) const noexcept {
        return layout_.place(rank, turn(piece), bytes);
    }
    /// These are give() and of(), if `rank` waits for other nodes before it gives.
    void release(std::uint64_t piece, std::uint64_t bytes) {
        schedule_.release(layout_.head(schedule_.rank, turn(piece)).word, turn(piece), bytes);
    }
    const std::byte* released(std::int32_t rank, std::uint64_t piece, std::uint64_t bytes) {
        schedule_.await_release(layout_.head(rank, turn(piece)).word, turn(piece), bytes, rank);
        return place(rank, piece, bytes);
    }
    void finish(std::uint64_t piece) {
        schedule_.signal(layout_.standing(schedule_.rank).word, turn(piece), 0);
    }
    /// Waits until another rank has come to the turn.
    void wait_for(std::int32_t rank, std::uint64_t piece) {
        schedule_.await(layout_.standing(rank).word, turn(piece), 0, rank);
    }
    /// Returns how many pieces are given ahead of the one that is taken. They stay in the second
    /// cache, and leave room for pieces that a rank has not finished.
    static constexpr std::uint64_t ahead(std::int32_t ranks) noexcept {
        return std::min<std::uint64_t>(most_ahead, ScratchLayout::slots(ranks) / 2 - 1);
    }
    std::uint64_t ahead() const noexcept { return ahead(schedule_.size); }
    /// Notes that all ranks have given this piece. So all have finished all pieces before those
    /// that they may give ahead.
    void all_have_given(std::uint64_t piece) noexcept {
        const std::uint64_t finished = turn(piece) - std::min(turn(piece), ahead() + 1);
        scratch_.room = std::max(scratch_.room, finished + slots());
    }

private:
    static constexpr std::uint64_t most_ahead = 15;

    std::uint64_t turn(std::uint64_t piece) const noexcept { return first_ + piece; }
    std::uint64_t slots() const noexcept { return ScratchLayout::slots(schedule_.size); }
    /// Makes room for half a ring from this turn on.
    void make_room(std::uint64_t turn) {
        const std::uint64_t finished = turn - slots() / 2;
        for (std::int32_t rank = 0; rank < schedule_.size; ++rank)
            if (rank != schedule_.rank)
                schedule_.await(layout_.standing(rank).word, finished, 0, rank);
        scratch_.room = finished + slots();
    }

    Schedule& schedule_;
    objects::SharedScratch& scratch_;
    ScratchLayout layout_;
    std::uint64_t first_;
};

/// A number of elements of `extent` bytes, in pieces. The pieces are small enough that the other
/// ranks begin early, and no larger than a slot.
class Pieces {
public:
    Pieces(std::uint64_t count, std::uint64_t extent) noexcept
        : count_(count),
          extent_(extent),
          each_(std::max<std::uint64_t>(
              std::clamp(count * extent / 4, least, ScratchLayout::slot_bytes) / extent, 1)) {}

    std::uint64_t number() const noexcept { return (count_ + each_ - 1) / each_; }
    std::uint64_t start(std::uint64_t piece) const noexcept { return piece * each_ * extent_; }
    std::uint64_t count(std::uint64_t piece) const noexcept {
        return std::min(each_, count_ - piece * each_);
    }
    std::uint64_t bytes(std::uint64_t piece) const noexcept { return count(piece) * extent_; }

private:
    static constexpr std::uint64_t least = 8 << 10;

    std::uint64_t count_, extent_, each_;
};

/// Gives pieces ahead of the one that it takes, so that the other ranks go on meanwhile. If ranks
/// share cores, each has much to do whenever it runs.
template <class Give, class Take>
void give_and_take(const SharedSlots& slots, std::uint64_t pieces, Give&& give, Take&& take) {
    std::uint64_t given = 0;
    for (std::uint64_t piece = 0; piece < pieces; ++piece) {
        while (given < std::min(pieces, piece + 1 + slots.ahead())) give(given++);
        take(piece);
    }
}

}  // namespace heddle::coll
