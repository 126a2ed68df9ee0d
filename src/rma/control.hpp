// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// State that the processes of a window share besides its memory. It begins with the lock of all
/// targets and its waiters, and the state of each target. Places for processes that wait at targets
/// follow, and the regions of a dynamic window. All of it begins as zeroes, at the start of the
/// segment.

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "objects/window.hpp"
#include "rma/row_lock.hpp"
#include "rma/whole_lock.hpp"
#include "rma/window_lock.hpp"
#include "sync/mutex.hpp"

namespace heddle::rma {

/// Fences that both sides pay for: the system may refuse membarrier to some processes of a window
/// and not to others.
struct OwnFence {
    static bool available() noexcept { return true; }
    static void light() noexcept { std::atomic_thread_fence(seq_cst); }
    static void heavy() noexcept { std::atomic_thread_fence(seq_cst); }
    static bool heavy_before_sleep() noexcept {
        std::atomic_thread_fence(seq_cst);
        return true;
    }
};
using SharedWorld = sync::NativeWorld<OwnFence, platform::Scope::node>;
using SharedMutex = sync::BasicMutex<SharedWorld>;
using WholeLock = BasicWholeLock<SharedWorld, SharedMutex>;
using RowLock = BasicRowLock<SharedWorld, SharedMutex>;

/// The state of all targets.
struct alignas(cache_line) Front {
    WholeLock lock;
};

/// The state of one target.
struct TargetState {
    alignas(cache_line) WindowLock lock;
    /// Rank + 1 of the process with the exclusive lock, for a report.
    std::atomic<std::int32_t> writer;
    /// The regions of a dynamic window from this number on have never been used.
    std::atomic<std::uint32_t> regions;
    RowLock accumulates;
};

/// Memory that is attached to a dynamic window. Only its own process writes it, and empties it by
/// `bytes`.
struct Region {
    std::atomic<std::uint64_t> address;
    std::atomic<std::uint64_t> bytes;  ///< 0: none
};
/// The most regions of a process in a window. They cost addresses: pages of the segment come into
/// being when they are used.
inline constexpr std::size_t most_regions = std::size_t{1} << 18;

/// The offsets of this state in the segment of a window.
struct ControlLayout {
    std::size_t target_states, parties, places, regions, end;

    static constexpr std::uint32_t places_of(std::int32_t ranks) noexcept {
        return std::bit_ceil(static_cast<std::uint32_t>(ranks));
    }
    static constexpr ControlLayout of(std::int32_t ranks, bool dynamic) noexcept {
        const auto count = static_cast<std::size_t>(ranks);
        ControlLayout layout{};
        layout.target_states = sizeof(Front);
        layout.parties = layout.target_states + count * sizeof(TargetState);
        layout.places = layout.parties + count * sizeof(WholeParty);
        layout.regions = layout.places + count * places_of(ranks) * sizeof(std::uint32_t);
        layout.regions = (layout.regions + cache_line - 1) / cache_line * cache_line;
        layout.end = layout.regions + (dynamic ? count * most_regions * sizeof(Region) : 0);
        return layout;
    }
};

inline TargetState& state_of(const objects::Window& window, std::int32_t rank) noexcept {
    return window.target_states[rank];
}
inline WholeLock::Parties parties_of(const objects::Window& window) noexcept {
    return {window.parties, static_cast<std::size_t>(window.ranks)};
}
inline WindowLock::Places places_of(const objects::Window& window, std::int32_t rank) noexcept {
    const std::uint32_t count = ControlLayout::places_of(window.ranks);
    return {window.places + static_cast<std::size_t>(rank) * count, count};
}

}  // namespace heddle::rma
