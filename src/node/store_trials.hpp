// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// How the producer of a payload ring stores (platform/copy.hpp).
///
/// Where both processes share a cache, plain stores are faster; where they do not, a plain store waits for
/// the line to come back from the other core, and stores around the cache are up to ten times faster. The
/// machine is not asked, since processes move: all ways are timed on the way, on both sides.
///
/// Trial          a whole block of which the first half is stored another way than usual. The consumer times both
///                parts and tells; the producer reads that when it comes to the block again.
/// Counted        the second of two trials of a block that follow each other. What a store costs depends on
///                where the line has come to rest since the last one, so each part must have been stored the
///                same way before. The first trial would say that the way in use is always the better one.

#include <array>
#include <cstdint>

#include "platform/copy_choice.hpp"

namespace heddle::node {

using platform::Copy;
using platform::Halves;

/// Which blocks are on trial, and what is learned of storing in them. The producer's.
template <std::size_t Blocks>
class StoreTrials {
public:
    /// Whether such a block is ever a trial.
    static constexpr bool may_be(std::uint64_t block) noexcept {
        return platform::has_copy_ways && block % often == often / 2;
    }

    Copy now() const noexcept { return choice_.now(); }

    /// Whether this block, which is stored as a whole, should be a trial: at first one in eight is each
    /// time, later twice and then not for a while.
    bool is_due(std::uint64_t block) noexcept {
        return may_be(block) && (trials_[block].visits++ % period < 2 || started_ < few);
    }
    struct Ways {
        Copy tried, usual;
    };
    /// The block begins as a trial; `told` times the consumer has timed it.
    Ways start(std::uint64_t block, std::uint64_t told) noexcept {
        Trial& trial = trials_[block];
        trial.counts = trial.is_last && trial.ways.usual == now() && !trial.counts;
        if (!trial.counts) {
            last_tried_ = platform::after(last_tried_, platform::copy_ways);
            if (last_tried_ == now())
                last_tried_ = platform::after(last_tried_, platform::copy_ways);
            trial.ways = {last_tried_, now()};
        }
        trial.is_last = trial.is_open = true;
        trial.told = told;
        ++started_;
        return trial.ways;
    }
    void stored(std::uint64_t block, Halves ticks) noexcept { trials_[block].stored = ticks; }

    bool is_open(std::uint64_t block) const noexcept { return trials_[block].is_open; }
    /// The block is stored anew. What the consumer told of it last, and how often it has.
    void end(std::uint64_t block, Halves loaded, std::uint64_t told) noexcept {
        Trial& trial = trials_[block];
        trial.is_open = false;
        trial.is_last = told != trial.told;  // else it was read in another way
        if (trial.is_last && trial.counts)
            choice_.learn(trial.ways.usual, trial.stored.second + loaded.second, trial.ways.tried,
                          trial.stored.first + loaded.first);
    }
    /// The block is stored anew, and what lies there was no trial.
    void forget(std::uint64_t block) noexcept { trials_[block].is_last = false; }

private:
    static constexpr std::uint64_t often = 8;  ///< one block in so many
    static constexpr std::uint64_t few = 64;   ///< trials until they are seldom
    static constexpr std::uint32_t period =
        16;  ///< visits of a block, of which two are trials then

    struct Trial {
        bool is_open = false;  ///< the consumer's times are still to be read
        bool is_last = false;  ///< what was stored before in this block was a trial
        bool counts = false;
        std::uint32_t visits = 0;
        Ways ways{};
        std::uint64_t told = 0;
        Halves stored{};
    };

    platform::CopyChoice choice_;
    Copy last_tried_{};
    std::uint64_t started_ = 0;
    std::array<Trial, Blocks> trials_{};
};

}  // namespace heddle::node
