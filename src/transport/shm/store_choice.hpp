// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// How the producer of a payload ring stores: through its cache, or around it.
///
/// Where both processes share a cache, plain stores are faster; where they do not, a plain store waits for
/// the line to come back from the other core, and stores around the cache are up to ten times faster. The
/// machine is not asked, since processes move: both ways are timed on the way, on both sides.
///
/// Trial          a whole block of which the first quarter is stored the other way. The consumer times both
///                parts and tells; the producer reads that when it comes to the block again.

#include <algorithm>
#include <array>
#include <cstdint>

#include "platform/copy.hpp"

namespace heddle::transport::shm {

enum class Store : std::uint8_t { through_cache, around_cache };

constexpr Store other(Store one) noexcept {
    return one == Store::through_cache ? Store::around_cache : Store::through_cache;
}

/// Ticks for the first quarter of a block, and for the rest.
struct TwoParts {
    std::uint64_t first, rest;
};

class StoreChoice {
public:
    Store now() const noexcept { return now_; }

    /// A trial in which the first quarter was stored the other way than `usual`; both sides' ticks.
    void learn(Store usual, TwoParts stored, TwoParts loaded) noexcept {
        if (!platform::copies_around_cache) return;
        note(other(usual), 3 * (stored.first + loaded.first));
        note(usual, stored.rest + loaded.rest);
        const std::uint64_t mine = cost(now_), theirs = cost(other(now_));
        // More than what one disturbance makes of two ways that cost the same.
        if (mine != 0 && theirs != 0 && theirs + theirs / 3 < mine) now_ = other(now_);
    }

private:
    std::uint64_t& cost(Store way) noexcept { return cost_[static_cast<std::size_t>(way)]; }
    /// For three quarters of a block. Forgets by a quarter; a thread that lost its core counts little.
    void note(Store way, std::uint64_t ticks) noexcept {
        std::uint64_t& known = cost(way);
        known = known == 0 ? ticks : (3 * known + std::min(ticks, 2 * known)) / 4;
    }

    Store now_ = Store::through_cache;
    std::array<std::uint64_t, 2> cost_{};  ///< 0: not known
};

}  // namespace heddle::transport::shm
