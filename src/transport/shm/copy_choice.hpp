// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// How both sides of a payload ring copy (platform/copy.hpp).
///
/// Where both processes share a cache, plain stores are faster; where they do not, a plain store waits for
/// the line to come back from the other core, and stores around the cache are up to ten times faster. What
/// the library's memcpy() does costs a third on one processor and half or three times as much on another.
/// The machine is not asked, since processes move: the ways are timed on the way.
///
/// Trial          a whole block of which the first half is copied another way than usual. Ways of storing are
///                timed on both sides: the consumer tells, and the producer reads that when it comes to the
///                block again.
/// Counted        the second of two trials of a block that follow each other. What a store costs depends on
///                where the line has come to rest since the last one, so each part must have been stored the
///                same way before. The first trial would say that the way in use is always the better one.

#include <algorithm>
#include <array>
#include <cstdint>

#include "platform/copy.hpp"
#include "sync/orders.hpp"

namespace heddle::transport::shm {

using platform::Copy;

/// Ticks for the halves of a block. Each is timed until its last line has been stored, or loaded: what is
/// still under way would count for the other half.
struct Halves {
    std::uint64_t first, second;
};

/// Of ways that are tried beside the one in use, the one that costs least. Zeroes are a valid new one.
class CopyChoice {
public:
    Copy now() const noexcept { return now_; }

    /// What half a block has cost by the usual way, and by the one that was tried beside it.
    void learn(Copy usual, std::uint64_t usual_ticks, Copy tried,
               std::uint64_t tried_ticks) noexcept {
        note(usual, usual_ticks);
        note(tried, tried_ticks);
        if (tried == now_) return;
        const std::uint64_t mine = cost(now_), theirs = cost(tried);
        // More than what disturbances make of two ways that cost the same.
        const bool is_better = mine != 0 && theirs + theirs / 3 < mine;
        std::uint8_t& in_favour = in_favour_[static_cast<std::size_t>(tried)];
        in_favour = is_better ? static_cast<std::uint8_t>(in_favour + 1) : std::uint8_t{0};
        if (in_favour < enough) return;
        now_ = tried;
        in_favour_ = {};
    }

private:
    std::uint64_t& cost(Copy way) noexcept { return cost_[static_cast<std::size_t>(way)]; }
    /// Forgets by a quarter; a thread that lost its core counts little.
    void note(Copy way, std::uint64_t ticks) noexcept {
        std::uint64_t& known = cost(way);
        known = known == 0 ? ticks : (3 * known + std::min(ticks, 2 * known)) / 4;
    }

    static constexpr std::uint8_t enough = 4;

    Copy now_ = Copy::by_vectors;
    std::array<std::uint8_t, platform::copy_ways> in_favour_{};  ///< trials, the last ones
    std::array<std::uint64_t, platform::copy_ways> cost_{};      ///< 0: not known
};

/// The next of the first `ways` ones.
constexpr Copy after(Copy way, std::size_t ways) noexcept {
    return static_cast<Copy>((static_cast<std::size_t>(way) + 1) % ways);
}

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
            last_tried_ = after(last_tried_, platform::copy_ways);
            if (last_tried_ == now()) last_tried_ = after(last_tried_, platform::copy_ways);
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

    CopyChoice choice_;
    Copy last_tried_{};
    std::uint64_t started_ = 0;
    std::array<Trial, Blocks> trials_{};
};

/// What is learned of loading from a ring. Several threads may load; who tries has it alone. The consumer's.
/// Zeroes are a valid new one.
template <class World>
class LoadTrials {
public:
    Copy now() const noexcept { return static_cast<Copy>(now_.load(relaxed)); }

    /// Whether a block that is no trial of the producer should be one. If so, it is the caller's.
    bool begin(std::uint64_t block) noexcept {
        if (!platform::has_copy_ways || block % often != 0) return false;
        const std::uint32_t visits = visits_.load(relaxed);
        visits_.store(visits + 1, relaxed);
        if (visits >= few && visits % period != 0) return false;
        return taken_.exchange(1, acquire) == 0;  // pairs with end()
    }
    static Copy other(Copy way) noexcept { return after(way, ways); }
    /// The first half was loaded the other way than `usual`.
    void end(Copy usual, Halves loaded) noexcept {
        choice_.learn(usual, loaded.second, other(usual), loaded.first);
        now_.store(static_cast<std::uint32_t>(choice_.now()), relaxed);
        taken_.store(0, release);
    }

private:
    template <class T>
    using Atom = typename World::template Atom<T>;

    static constexpr std::size_t ways = 2;  ///< what was loaded is wanted in the cache
    static constexpr std::uint64_t often = 8;
    static constexpr std::uint32_t few = 64, period = 16;

    Atom<std::uint32_t> now_, visits_, taken_;
    CopyChoice choice_;
};

}  // namespace heddle::transport::shm
