// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Store-load ordering between a frequent and a rare side, paid by the rare side alone.
///
/// Contract       Frequent side: store A; light(); load B.   Rare side: store B; heavy(); load A.
///                At least one of the two loads sees the other side's store.
/// Cost           light() keeps the compiler from reordering and is no instruction; heavy() is a
///                system call of about half a microsecond.
/// Refusal        a kernel may lack membarrier, a filter may forbid it, memory for it may run out:
///                from the start or later. Then available() is false from now on. Locks are not
///                biased, and a sleeper limits its sleep (Naps), since a wake-up may be missed. So
///                a thread that sleeps next calls heavy_before_sleep(), which fences if that is
///                possible. heavy() keeps the contract in any case. If the fence is refused,
///                heavy() lets so much time pass that no store is still under way.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

#include "platform/heavy_fence.hpp"

namespace heddle::sync {

inline constexpr std::chrono::milliseconds fallback_nap{1};

/// Times to sleep for a sleeper that may miss its wake-up: short at first, and longer while nothing
/// comes.
class Naps {
public:
    std::chrono::nanoseconds next() noexcept {
        const std::chrono::nanoseconds nap = next_;
        next_ = std::min(most, nap * 3 / 2);
        return nap;
    }
    /// Starts over, after something has come.
    void start_over() noexcept { next_ = fallback_nap; }

    static constexpr std::chrono::nanoseconds most = std::chrono::milliseconds{40};

private:
    std::chrono::nanoseconds next_ = fallback_nap;
};

/// Whether this process has its heavy fences. The first thread that asks finds it out.
class HeavyFences {
public:
    static bool available() noexcept {
        const State state = state_.load(std::memory_order_relaxed);
        return state == State::available || (state == State::not_asked && find_out());
    }
    /// Returns the errno with which they were refused; 0: they are available.
    static int refusal() noexcept {
        return available() ? 0 : refusal_.load(std::memory_order_relaxed);
    }

    /// Takes the result of a fence of platform/heavy_fence.hpp. Returns true if it was a fence.
    static bool passed(int error) noexcept {
        if (error != 0) [[unlikely]]
            give_up(error);
        return error == 0;
    }
    /// Replaces a fence: waits until the stores that other threads had under way are there.
    static void wait_for_stores() noexcept;

private:
    enum class State : std::uint8_t { not_asked, available, refused };

    static bool find_out() noexcept;
    static void give_up(int error) noexcept;

    static inline constinit std::atomic<State> state_{State::not_asked};
    static inline constinit std::atomic<int> refusal_{0};
};

template <int (*fence)() noexcept>
struct AsymmetricFence {
    static bool available() noexcept { return HeavyFences::available(); }
    static void light() noexcept { std::atomic_signal_fence(std::memory_order_seq_cst); }
    static void heavy() noexcept {
        if (!heavy_before_sleep()) [[unlikely]]
            HeavyFences::wait_for_stores();
    }
    /// Returns false if it was no fence, so that the sleep is to be a nap.
    static bool heavy_before_sleep() noexcept {
        std::atomic_thread_fence(std::memory_order_seq_cst);
        return available() && HeavyFences::passed(fence());
    }
};

/// The fence of the threads of one process.
using ProcessFence = AsymmetricFence<&platform::heavy_fence_process>;
/// The fence of the threads of all processes on this node that have their heavy fences. A process
/// that lacks them says so at the bells of the others (sync/parking.hpp).
using NodeFence = AsymmetricFence<&platform::heavy_fence_node>;

}  // namespace heddle::sync
