// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The world of the primitives of this folder: atomics, fences, sleeping, pausing.
///
/// Every primitive is a template over a world. `Native` is the machine. Tests put a simulated world
/// in its place, which replays interleavings and store buffers from a seed.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <limits>
#include <sched.h>

#include "platform/cpu.hpp"
#include "platform/futex.hpp"
#include "platform/hierarchy.hpp"
#include "sync/asymmetric_fence.hpp"
#include "sync/orders.hpp"

namespace heddle::sync {

template <class Fence_, platform::Scope scope>
struct NativeWorld {
    template <class T>
    using Atom = std::atomic<T>;
    using Fence = Fence_;

    /// Sleeps while word == expected; may return early.
    static void wait(std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {
        platform::futex_wait(word, expected, scope,
                             Fence::available() ? std::chrono::milliseconds{0} : fallback_nap);
    }
    /// Does the same for at most `limit`.
    static void wait_for(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                         std::chrono::nanoseconds limit) noexcept {
        platform::futex_wait(word, expected, scope, limit);
    }
    static void wake_one(std::atomic<std::uint32_t>& word) noexcept {
        platform::futex_wake(word, 1, scope);
    }
    static void wake_all(std::atomic<std::uint32_t>& word) noexcept {
        platform::futex_wake(word, std::numeric_limits<int>::max(), scope);
    }
    static void pause() noexcept { platform::pause(); }
    /// After so many pauses in one wait a spinning lock offers its core.
    static constexpr int pauses_before_offer = 64;
    static void yield() noexcept { sched_yield(); }
    /// Sleeps for the shortest time: some microseconds, or about 55 with the kernel's usual slack.
    static void nap() noexcept {
        const timespec shortest{0, 1000};
        (void)nanosleep(&shortest, nullptr);
    }
    /// Returns the time, for time limits.
    static std::chrono::nanoseconds now() noexcept {
        return std::chrono::steady_clock::now().time_since_epoch();
    }
    /// Returns the processor on which the calling thread runs just now. It may run on another when
    /// the result is used.
    static unsigned processor() noexcept { return platform::processor(); }
    /// Returns the hierarchy in which processor() is a place.
    static const platform::Hierarchy& hierarchy() { return platform::hierarchy_of_machine(); }
};

/// The world of words that threads of one process share.
using Native = NativeWorld<ProcessFence, platform::Scope::process>;
/// The world of words in memory that processes share.
using NativeNode = NativeWorld<NodeFence, platform::Scope::node>;

}  // namespace heddle::sync
