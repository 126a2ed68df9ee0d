// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// What algorithms in scratch memory write into a schedule: data in pieces, a turn and a slot each.
///
/// An object      stands for the turns of one call, which all ranks take alike. Pieces are counted from 0.
/// Order          give() before anything of the piece is taken; finish() once this process needs no more of it;
///                pieces one after the other, what is given at most ahead() of what is finished.

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

    /// Where this process puts what it gives, once nobody needs what was there.
    std::byte* own(std::uint64_t piece, std::uint64_t bytes) {
        if (turn(piece) > scratch_.room) [[unlikely]]
            make_room(turn(piece));
        return place(schedule_.rank, piece, bytes);
    }
    /// It is there.
    void give(std::uint64_t piece, std::uint64_t bytes) {
        schedule_.signal(layout_.head(schedule_.rank, turn(piece)).word, turn(piece), bytes);
    }
    /// What another has given, from now on.
    const std::byte* of(std::int32_t rank, std::uint64_t piece, std::uint64_t bytes) {
        schedule_.await(layout_.head(rank, turn(piece)).word, turn(piece), bytes, rank);
        return place(rank, piece, bytes);
    }
    /// Where it is.
    std::byte* place(std::int32_t rank, std::uint64_t piece, std::uint64_t bytes) const noexcept {
        return layout_.place(rank, turn(piece), bytes);
    }
    void finish(std::uint64_t piece) {
        schedule_.signal(layout_.standing(schedule_.rank).word, turn(piece), 0);
    }
    /// Waits until another has come to the turn.
    void wait_for(std::int32_t rank, std::uint64_t piece) {
        schedule_.await(layout_.standing(rank).word, turn(piece), 0, rank);
    }
    /// So many pieces are given ahead of the one that is taken: what stays in the second cache, and leaves room for those
    /// that somebody has not finished.
    static constexpr std::uint64_t ahead(std::int32_t ranks) noexcept {
        return std::min<std::uint64_t>(most_ahead, ScratchLayout::slots(ranks) / 2 - 1);
    }
    std::uint64_t ahead() const noexcept { return ahead(schedule_.size); }
    /// Everybody has given this piece, and so has finished all before those that may be given ahead.
    void all_have_given(std::uint64_t piece) noexcept {
        const std::uint64_t finished = turn(piece) - std::min(turn(piece), ahead() + 1);
        scratch_.room = std::max(scratch_.room, finished + slots());
    }

private:
    static constexpr std::uint64_t most_ahead = 15;

    std::uint64_t turn(std::uint64_t piece) const noexcept { return first_ + piece; }
    std::uint64_t slots() const noexcept { return ScratchLayout::slots(schedule_.size); }
    /// For half a ring from this turn on.
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

/// So much data, in elements of `extent` bytes, in pieces: small enough that others begin early, and no larger than a
/// slot.
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

/// Gives pieces ahead of the one that it takes: the others go on meanwhile, and where ranks share cores, each has
/// much to do whenever it runs.
template <class Give, class Take>
void give_and_take(const SharedSlots& slots, std::uint64_t pieces, Give&& give, Take&& take) {
    std::uint64_t given = 0;
    for (std::uint64_t piece = 0; piece < pieces; ++piece) {
        while (given < std::min(pieces, piece + 1 + slots.ahead())) give(given++);
        take(piece);
    }
}

}  // namespace heddle::coll
