// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Finds the method of copying that costs least (platform/copy.hpp). Properties of the machine are
/// not used, since processes move. Instead, a copy or half of one is sometimes made by another
/// method, and timed.

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "platform/copy.hpp"
#include "platform/cpu.hpp"
#include "platform/trials_of_two.hpp"

namespace heddle::platform {

/// Chooses the cheapest of several methods that are tried beside the one in use. Zeroes are a valid
/// new object.
class CopyChoice {
public:
    Copy now() const noexcept { return now_; }

    /// Notes the cost of half a block by the usual method, and by the one that was tried beside it.
    void learn(Copy usual, std::uint64_t usual_ticks, Copy tried,
               std::uint64_t tried_ticks) noexcept {
        note(usual, usual_ticks);
        note(tried, tried_ticks);
        if (tried == now_) return;
        const std::uint64_t mine = cost(now_), theirs = cost(tried);
        // A difference larger than that of disturbances.
        const bool is_better = mine != 0 && theirs + theirs / 3 < mine;
        std::uint8_t& in_favour = in_favour_[static_cast<std::size_t>(tried)];
        in_favour = is_better ? static_cast<std::uint8_t>(in_favour + 1) : std::uint8_t{0};
        if (in_favour < enough) return;
        now_ = tried;
        in_favour_ = {};
    }

private:
    std::uint64_t& cost(Copy way) noexcept { return cost_[static_cast<std::size_t>(way)]; }
    /// Averages, with a weight of a quarter for the new time. A thread that lost its core counts
    /// little.
    void note(Copy way, std::uint64_t ticks) noexcept {
        std::uint64_t& known = cost(way);
        known = known == 0 ? ticks : (3 * known + std::min(ticks, 2 * known)) / 4;
    }

    static constexpr std::uint8_t enough = 4;

    Copy now_ = Copy::by_library;
    std::array<std::uint8_t, platform::copy_ways> in_favour_{};  ///< number of trials won in a row
    std::array<std::uint64_t, platform::copy_ways> cost_{};      ///< 0 if it is unknown
};

/// Returns the method after `way` among the first `ways`.
constexpr Copy after(Copy way, std::size_t ways) noexcept {
    return static_cast<Copy>((static_cast<std::size_t>(way) + 1) % ways);
}

/// Ticks for the halves of a copy. Each is timed until its last line has been loaded and stored.
/// Pending stores would count for the other half.
struct Halves {
    std::uint64_t first, second;
};

/// Copies half by one method, half by the other.
inline Halves copy_halves(Copy first, Copy second, std::byte* to, const std::byte* from,
                          std::size_t bytes) noexcept {
    const std::size_t half = bytes / 128 * 64;
    const std::uint64_t start = ticks_after_stores();
    copy(first, to, from, half);
    const std::uint64_t middle = ticks_after_stores();
    copy(second, to + half, from + half, bytes - half);
    return {middle - start, ticks_after_stores() - middle};
}

/// Copies by the cheaper of two methods. Zeroes are a valid new object.
///
/// Copies are timed without fences. Stores that continue after one count for the next, as they do
/// without timing. So stretches of copies must be compared, not halves of one.
///
/// Thread safety  any threads; only one thread at a time learns.
template <Copy First = Copy::by_library, Copy Second = Copy::by_vectors>
class CopyTrials {
public:
    Copy now() const noexcept {
        return is_second_.load(std::memory_order_relaxed) ? Second : First;
    }

    void copy(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
        const Copy way = now();
        if (bytes < least_by_library || !is_due()) [[likely]]
            return platform::copy(suited(way, bytes), to, from, bytes);
        const std::uint64_t start = ordered_ticks();
        platform::copy(way, to, from, bytes);
        learn(way, ordered_ticks() - start, bytes);
    }

private:
    static constexpr std::uint32_t often = 4;  ///< one copy in `often` is timed
    static constexpr unsigned timed_in_stretch = 8;

    bool is_due() noexcept {
        const std::uint32_t copies = copies_.load(std::memory_order_relaxed);
        copies_.store(copies + 1, std::memory_order_relaxed);  // concurrent increments may be lost
        return has_copy_ways && copies % often == 0;
    }
    void learn(Copy way, std::uint64_t ticks, std::size_t bytes) noexcept {
        if (taken_.exchange(true, std::memory_order_acquire)) return;
        if (way == now()) {  // another thread may have ended the stretch
            ways_.timed(ways_.stretch(), ticks * 65536 / bytes);
            bytes_ += often * bytes;
            if (++timed_ % timed_in_stretch == 0) end_stretch();
        }
        taken_.store(false, std::memory_order_release);
    }
    void end_stretch() noexcept {
        ways_.ended(bytes_);
        bytes_ = 0;
        is_second_.store(ways_.now() != 0, std::memory_order_relaxed);
    }

    std::atomic<bool> is_second_{};
    std::atomic<bool> taken_{};
    std::atomic<std::uint32_t> copies_{};
    unsigned timed_ = 0;
    std::uint64_t bytes_ = 0;  ///< in this stretch
    TrialsOfTwo ways_;
};

}  // namespace heddle::platform
