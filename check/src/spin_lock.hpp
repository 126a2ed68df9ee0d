// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A lock that is held for a few instructions, also between processes.

#include <sched.h>

#include <atomic>

namespace heddle::check {

/// A lock whose holder may be preempted: a thread that waits for long yields.
class SpinLock {
public:
    void lock() noexcept {
        for (int turns = 0; held_.exchange(true, std::memory_order_acquire); ++turns)
            if (turns > 100) ::sched_yield();
    }
    void unlock() noexcept { held_.store(false, std::memory_order_release); }

private:
    std::atomic<bool> held_{false};
};

}  // namespace heddle::check
