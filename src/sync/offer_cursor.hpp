// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The slot of a sender's next offer: in its first block of slots, and in further ones when offers
/// that stand fill it. So there is a slot for as many offers as stand at once.
///
/// Cost       while the first block has room: the next free slot in turn. Later each block is
///            walked through once from its start. It is entered only if half of it is free. So an
///            offer costs a few looks at slots on average, however many others stand.
/// Memory     a block is added when the next one in turn is not half free. The slots are a small
///            multiple of the offers that stood at once.
/// Thread safety  one thread at a time: the sender. Zeroes are a valid object.
///
/// `Blocks` has the slots. `with(block, f)` calls f with a BasicOffers. `add(block)` makes a
/// further one, or returns false. The first block is number 0; further ones are counted from 1.

#include <cstdint>

namespace heddle::sync {

class OfferCursor {
public:
    static constexpr std::uint8_t most_further = 127;

    struct Found {
        std::uint64_t number;  ///< 0: there is no slot, and no block could be added
        std::uint8_t block;
    };

    /// Makes a new offer. `reuse`: as in BasicOffers::offer.
    template <class Blocks>
    Found offer(Blocks&& blocks, bool reuse) noexcept {
        if (further_ == 0) {
            const std::uint64_t number =
                blocks.with(0, [&](auto& first) { return first.offer(next_, reuse); });
            if (number != 0 || !add(blocks)) [[likely]]
                return {number, 0};
        }
        do {
            const std::uint64_t number = blocks.with(
                block_, [&](auto& offers) { return offers.offer(next_, offers.size, reuse); });
            if (number != 0) return {number, block_};
        } while (enter_next(blocks, reuse));
        return {0, 0};
    }

private:
    /// Called when the block has been walked through. The first block comes before others: it is
    /// small, and in a cache.
    template <class Blocks>
    bool enter_next(Blocks&& blocks, bool reuse) noexcept {
        const auto is_half_free = [&](std::uint8_t block) {
            return blocks.with(block, [&](auto& offers) { return offers.is_half_free(reuse); });
        };
        next_ = 0;
        const bool was_first = block_ == 0;
        block_ = 0;
        if (!was_first && is_half_free(0)) return true;
        tried_ = static_cast<std::uint8_t>(tried_ % further_ + 1);
        if (!is_half_free(tried_)) return add(blocks);
        block_ = tried_;
        return true;
    }
    template <class Blocks>
    bool add(Blocks&& blocks) noexcept {
        const auto block = static_cast<std::uint8_t>(further_ + 1);
        if (further_ == most_further || !blocks.add(block)) return false;
        block_ = further_ = block;
        next_ = 0;
        return true;
    }

    std::uint32_t next_;    ///< slot of the block
    std::uint8_t block_;    ///< block that is being walked through
    std::uint8_t further_;  ///< blocks besides the first
    std::uint8_t tried_;    ///< of the further blocks, the one that was looked at last
};

}  // namespace heddle::sync
