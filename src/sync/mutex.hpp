// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Mutual exclusion whose release is a plain store.
///
/// Thread safety  lock(), try_lock() and unlock() from any thread; unlock() by the locking one.
/// Invariants     (1) word_ is 1 exactly while a thread holds the lock.
///                (2) a thread sleeps on word_ only while it counts in sleepers_. Each unlock()
///                    that this thread could be waiting for sees sleepers_ > 0 and wakes one.
/// The usual three states are not used: their unlock is a locked instruction. It waits until
/// earlier stores, among them those to other cores' lines, have drained. Here the sleeper pays
/// (heavy()).
/// Fairness       none: a running thread may overtake a woken one.

#include <algorithm>
#include <chrono>

#include "sync/native.hpp"

namespace heddle::sync {

template <class World = Native>
class BasicMutex {
public:
    BasicMutex() = default;
    BasicMutex(const BasicMutex&) = delete;
    BasicMutex& operator=(const BasicMutex&) = delete;

    bool try_lock() noexcept {
        // A1: pairs with R1, the release by the previous holder.
        return word_.load(relaxed) == 0 && word_.exchange(1, acquire) == 0;
    }
    void lock() noexcept {
        if (!try_lock()) [[unlikely]]
            lock_slowly();
    }
    /// Returns false if the lock was not free for `limit`. If `limit` is zero or less, it tries
    /// once.
    bool lock_for(std::chrono::nanoseconds limit) noexcept {
        return try_lock() || (limit.count() > 0 && lock_slowly_for(limit));
    }
    void unlock() noexcept {
        word_.store(0, release);  // R1: pairs with A1
        World::Fence::light();    // F1: pairs with F2; the store above before the load below
        if (sleepers_.load(relaxed) != 0) [[unlikely]]
            World::wake_one(word_);
    }

private:
    [[gnu::noinline]] void lock_slowly() noexcept {
        for (int spin = 0; spin < spins_before_sleep; ++spin) {
            World::pause();
            if (try_lock()) return;
        }
        sleepers_.fetch_add(1, relaxed);  // F2 orders it
        World::Fence::
            heavy_before_sleep();  // F2: pairs with F1; the count above before the try below
        while (!try_lock()) World::wait(word_, 1);
        sleepers_.fetch_sub(1, relaxed);  // too large a count costs a needless wake-up only
    }
    /// Gives up only after a try that failed. The thread that held the mutex then wakes another
    /// sleeper. So a wake-up that came too late for this one is not lost.
    [[gnu::noinline]] bool lock_slowly_for(std::chrono::nanoseconds limit) noexcept {
        const std::chrono::nanoseconds start = World::now();
        sleepers_.fetch_add(1, relaxed);     // F2 orders it
        World::Fence::heavy_before_sleep();  // F2
        bool locked = try_lock();
        while (!locked) {
            const std::chrono::nanoseconds left = limit - (World::now() - start);
            if (left.count() <= 0) break;
            World::wait_for(word_, 1,
                            World::Fence::available()
                                ? left
                                : std::min<std::chrono::nanoseconds>(left, fallback_nap));
            locked = try_lock();
        }
        sleepers_.fetch_sub(1, relaxed);
        return locked;
    }

    static constexpr int spins_before_sleep = 40;

    typename World::template Atom<std::uint32_t> word_{0};
    typename World::template Atom<std::uint32_t> sleepers_{0};
};

using Mutex = BasicMutex<>;

}  // namespace heddle::sync
