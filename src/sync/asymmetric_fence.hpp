// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Store-load ordering between a frequent and a rare side, paid by the rare side alone.
///
/// Contract       Frequent side: store A; light(); load B.   Rare side: store B; heavy(); load A.
///                At least one of the two loads sees the other side's store.
/// Cost           light() keeps the compiler from reordering and is no instruction; heavy() is a
///                system call of about half a microsecond.
/// Where the kernel lacks membarrier, available() is false: then a sleeper limits its sleep to
/// fallback_nap, since a wake-up may be missed, and locks are not biased.

#include <atomic>
#include <chrono>

#include "platform/heavy_fence.hpp"

namespace heddle::sync {

inline constexpr std::chrono::milliseconds fallback_nap{1};

/// The fence of the threads of one process.
struct ProcessFence {
    static bool available() noexcept {
        static const bool registered = platform::register_heavy_fences();
        return registered;
    }
    static void light() noexcept { std::atomic_signal_fence(std::memory_order_seq_cst); }
    static void heavy() noexcept { platform::heavy_fence_process(); }
};

/// The fence of the threads of all processes on this node.
struct NodeFence {
    static bool available() noexcept { return ProcessFence::available(); }
    static void light() noexcept { std::atomic_signal_fence(std::memory_order_seq_cst); }
    static void heavy() noexcept { platform::heavy_fence_node(); }
};

}  // namespace heddle::sync
