// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Which way to copy costs least here (platform/copy.hpp). The machine is not asked, since processes move:
/// now and then half of a copy is made another way, and both halves are timed.

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "platform/copy.hpp"
#include "platform/cpu.hpp"

namespace heddle::platform {

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

    Copy now_ = Copy::by_library;
    std::array<std::uint8_t, platform::copy_ways> in_favour_{};  ///< trials, the last ones
    std::array<std::uint64_t, platform::copy_ways> cost_{};      ///< 0: not known
};

/// The next of the first `ways` ones.
constexpr Copy after(Copy way, std::size_t ways) noexcept {
    return static_cast<Copy>((static_cast<std::size_t>(way) + 1) % ways);
}

/// Ticks for the halves of a copy. Each is timed until its last line has been loaded and stored: what is still
/// under way would count for the other half.
struct Halves {
    std::uint64_t first, second;
};

/// Copies half by one way, half by another.
inline Halves copy_halves(Copy first, Copy second, std::byte* to, const std::byte* from,
                          std::size_t bytes) noexcept {
    const std::size_t half = bytes / 128 * 64;
    const std::uint64_t start = ticks_after_stores();
    copy(first, to, from, half);
    const std::uint64_t middle = ticks_after_stores();
    copy(second, to + half, from + half, bytes - half);
    return {middle - start, ticks_after_stores() - middle};
}

/// Copies by vectors or by the library's memcpy(), whichever costs less. Zeroes are a valid new one.
///
/// Thread safety  any threads; who tries has what is learned alone.
class CopyTrials {
public:
    Copy now() const noexcept { return now_.load(std::memory_order_relaxed); }

    void copy(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
        const Copy usual = now();
        if (bytes < least_by_library || !is_due()) [[likely]]
            return platform::copy(suited(usual, bytes), to, from, bytes);
        const Copy tried = after(usual, ways);
        const Halves ticks = copy_halves(tried, usual, to, from, bytes);
        learn(usual, tried, ticks, bytes);
    }

private:
    static constexpr std::size_t ways = 2;  ///< what is copied is wanted in the cache
    static constexpr std::uint32_t few = 8, often = 8, seldom = 64;

    /// At first one copy in eight, later one in 64.
    bool is_due() noexcept {
        const std::uint32_t copies = copies_.load(std::memory_order_relaxed);
        copies_.store(copies + 1, std::memory_order_relaxed);  // some may be lost
        return has_copy_ways && copies % (copies < few * often ? often : seldom) == 0;
    }
    void learn(Copy usual, Copy tried, Halves ticks, std::size_t bytes) noexcept {
        if (taken_.exchange(true, std::memory_order_acquire)) return;
        const auto of_64_kib = [&](std::uint64_t half) { return half * 65536 / (bytes / 2); };
        choice_.learn(usual, of_64_kib(ticks.second), tried, of_64_kib(ticks.first));
        now_.store(choice_.now(), std::memory_order_relaxed);
        taken_.store(false, std::memory_order_release);
    }

    std::atomic<Copy> now_;
    std::atomic<bool> taken_;
    std::atomic<std::uint32_t> copies_;
    CopyChoice choice_;
};

}  // namespace heddle::platform
