// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Chooses how the producer of a payload ring stores (platform/copy.hpp).
///
/// If both processes share a cache, plain stores are faster. If they do not, a plain store waits
/// for the line to come back from the other core. Stores around the cache are then up to ten times
/// faster. Heddle does not ask the machine, since processes move. It times all methods while they
/// carry messages, on both sides.
///
/// Trial          a whole block of which the first half is stored by another method than usual. The
///                consumer times both halves and tells; the producer reads that when it comes to
///                the block again.
/// Counted        the second of two trials of a block that follow each other. The cost of a store
///                depends on where the line has come to rest since the last one. So each half must
///                have been stored by the same method before. The first trial would say that the
///                usual method is always the better one.

#include <array>
#include <cstdint>

#include "platform/copy_choice.hpp"

namespace heddle::node {

using platform::Copy;
using platform::Halves;

/// The blocks on trial, and what is learned of storing in them. Belongs to the producer.
template <std::size_t Blocks>
class StoreTrials {
public:
    /// Returns whether this block is ever a trial.
    static constexpr bool may_be(std::uint64_t block) noexcept {
        return platform::has_copy_ways && block % often == often / 2;
    }

    Copy now() const noexcept { return choice_.now(); }

    /// Returns whether this block, which is stored as a whole, should be a trial. At first one
    /// block in eight is a trial each time; later twice and then not for a while.
    bool is_due(std::uint64_t block) noexcept {
        return may_be(block) && (trials_[block].visits++ % period < 2 || started_ < few);
    }
    struct Ways {
        Copy tried, usual;
    };
    /// Begins the block as a trial; `told`: how often the consumer has timed it.
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
    /// Ends the trial when the block is stored anew. `loaded` is what the consumer told of it last,
    /// `told` how often it has.
    void end(std::uint64_t block, Halves loaded, std::uint64_t told) noexcept {
        Trial& trial = trials_[block];
        trial.is_open = false;
        trial.is_last = told != trial.told;  // else it was read by another method
        if (trial.is_last && trial.counts)
            choice_.learn(trial.ways.usual, trial.stored.second + loaded.second, trial.ways.tried,
                          trial.stored.first + loaded.first);
    }
    /// Notes that the block is stored anew, and what lies there was no trial.
    void forget(std::uint64_t block) noexcept { trials_[block].is_last = false; }

private:
    static constexpr std::uint64_t often = 8;  ///< one block in so many may be a trial
    static constexpr std::uint64_t few = 64;   ///< trials until they are seldom
    /// Visits of a block, of which two are trials then.
    static constexpr std::uint32_t period = 16;

    struct Trial {
        bool is_open = false;  ///< the consumer's times are still to be read
        bool is_last = false;  ///< the block was a trial when it was last stored
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
