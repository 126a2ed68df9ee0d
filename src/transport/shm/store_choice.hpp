// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// How the producer of a payload ring stores: through its cache, or around it.
///
/// Where both processes share a cache, plain stores are faster; where they do not, a plain store waits for
/// the line to come back from the other core, and stores around the cache are up to ten times faster. The
/// machine is not asked, since processes move: both ways are timed on the way, on both sides.
///
/// Trial          a whole block of which the first half is stored the other way. The consumer times both
///                parts and tells; the producer reads that when it comes to the block again.
/// Counted        the second of two trials of a block that follow each other. What a store costs depends on
///                where the line has come to rest since the last one, so each part must have been stored the
///                same way before. The first trial would say that the way in use is always the better one.

#include <algorithm>
#include <array>
#include <cstdint>

#include "platform/copy.hpp"

namespace heddle::transport::shm {

enum class Store : std::uint8_t { through_cache, around_cache };

constexpr Store other(Store one) noexcept {
    return one == Store::through_cache ? Store::around_cache : Store::through_cache;
}

/// Ticks for the halves of a block. Each is timed until its last line has been stored, or loaded: what is
/// still under way would count for the other half.
struct Halves {
    std::uint64_t first, second;
};

class StoreChoice {
public:
    Store now() const noexcept { return now_; }

    /// A trial in which the first half was stored the other way than `usual`; both sides' ticks.
    void learn(Store usual, Halves stored, Halves loaded) noexcept {
        if (!platform::copies_around_cache) return;
        note(other(usual), stored.first + loaded.first);
        note(usual, stored.second + loaded.second);
        const std::uint64_t mine = cost(now_), theirs = cost(other(now_));
        // More than what disturbances make of two ways that cost the same.
        const bool is_better = mine != 0 && theirs != 0 && theirs + theirs / 3 < mine;
        in_favour_ = is_better ? in_favour_ + 1 : 0;
        if (in_favour_ < enough) return;
        now_ = other(now_);
        in_favour_ = 0;
    }

private:
    std::uint64_t& cost(Store way) noexcept { return cost_[static_cast<std::size_t>(way)]; }
    /// For half a block. Forgets by a quarter; a thread that lost its core counts little.
    void note(Store way, std::uint64_t ticks) noexcept {
        std::uint64_t& known = cost(way);
        known = known == 0 ? ticks : (3 * known + std::min(ticks, 2 * known)) / 4;
    }

    static constexpr unsigned enough = 4;

    Store now_ = Store::through_cache;
    unsigned in_favour_ = 0;               ///< trials of the other way, the last ones
    std::array<std::uint64_t, 2> cost_{};  ///< 0: not known
};

/// Which blocks are on trial, and what is learned of them. The producer's.
template <std::size_t Blocks>
class StoreTrials {
public:
    /// Whether such a block is ever a trial.
    static constexpr bool may_be(std::uint64_t block) noexcept {
        return block % often == often / 2;
    }

    Store now() const noexcept { return choice_.now(); }

    /// Whether this block, which is stored as a whole, should be a trial: at first one in eight is each
    /// time, later twice and then not for a while.
    bool is_due(std::uint64_t block) noexcept {
        return may_be(block) && (trials_[block].visits++ % period < 2 || started_ < few);
    }
    /// The block begins as a trial; `told` times the consumer has timed it. The answer is the usual way.
    Store start(std::uint64_t block, std::uint64_t told) noexcept {
        Trial& trial = trials_[block];
        trial.counts = trial.is_last && trial.usual == now();
        trial.is_last = trial.is_open = true;
        trial.usual = now();
        trial.told = told;
        ++started_;
        return trial.usual;
    }
    void stored(std::uint64_t block, Halves ticks) noexcept { trials_[block].stored = ticks; }

    bool is_open(std::uint64_t block) const noexcept { return trials_[block].is_open; }
    /// The block is stored anew. What the consumer told of it last, and how often it has.
    void end(std::uint64_t block, Halves loaded, std::uint64_t told) noexcept {
        Trial& trial = trials_[block];
        trial.is_open = false;
        trial.is_last = told != trial.told;  // else it was read in another way
        if (trial.is_last && trial.counts) choice_.learn(trial.usual, trial.stored, loaded);
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
        Store usual = Store::through_cache;
        Halves stored{};
        std::uint64_t told = 0;
    };

    StoreChoice choice_;
    std::uint64_t started_ = 0;
    std::array<Trial, Blocks> trials_{};
};

}  // namespace heddle::transport::shm
