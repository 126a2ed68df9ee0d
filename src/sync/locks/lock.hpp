// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The lock protocols of P2 ("Lock Contention Management in Multithreaded MPI", section 2.3) behind
/// one concept. They are for the laboratory: the default locks of the library are in sync/.
///
/// Node           a thread's place in a queue. It lives in the guard, on the caller's stack, from
///                before lock() until after unlock(). It serves one lock at a time.
/// lock()         returns with the lock held.
/// try_lock()     never waits; may fail although the lock is free.
/// lock_for()     gives up after `limit` (zero or less: one try). Then the lock is as if the thread
///                had never come, and the node is free again: nothing refers to it. It may take
///                longer than `limit`: neighbours in a queue need time for an answer, or a wake-up
///                comes late.
/// unlock()       by the thread that locked, with the node that it locked with.
/// nowaiters()    (figure 5, line 21) called by the holder. It returns `false` only if another
///                thread is in lock(), and so will have the lock later whatever happens. `true` may
///                be wrong. A thread in lock_for() does not count, because it may leave.
/// Thread safety  all of them from any thread.
/// Waiting        by spinning as in the paper (waiting.hpp); the mutex sleeps. A thread in lock()
///                pauses only after nowaiters() can count it.
/// No lock is recursive. The next holder sees what a holder wrote.

#include <chrono>
#include <concepts>
#include <string_view>

namespace heddle::sync::locks {

template <class L>
concept Lock = std::default_initializable<L> && !std::movable<L> &&
    requires(L lock, typename L::Node me, std::chrono::nanoseconds limit) {
        {
            L::name
        } -> std::convertible_to<std::string_view>;  // the knob value selecting it; ends with a NUL
        {
            L::fifo
        } -> std::convertible_to<bool>;  // threads in lock() get it in the order they came
        { lock.lock(me) } noexcept -> std::same_as<void>;
        { lock.try_lock(me) } noexcept -> std::same_as<bool>;
        { lock.lock_for(me, limit) } noexcept -> std::same_as<bool>;
        { lock.unlock(me) } noexcept -> std::same_as<void>;
    };

/// A lock of which a two-level priority lock can be made.
template <class L>
concept ClassLock = Lock<L> && requires(const L lock, const typename L::Node me) {
    { lock.nowaiters(me) } noexcept -> std::same_as<bool>;
};

/// Issuing an operation (main path), or waiting for one (progress path): P2, figure 1.
enum class Path : bool { main, progress };

/// A lock that prefers the main path. Without a path its functions mean the main path.
template <class L>
concept PriorityLock =
    Lock<L> && requires(L lock, typename L::Node me, Path path, std::chrono::nanoseconds limit) {
        { lock.lock(me, path) } noexcept -> std::same_as<void>;
        { lock.try_lock(me, path) } noexcept -> std::same_as<bool>;
        { lock.lock_for(me, path, limit) } noexcept -> std::same_as<bool>;
        { L::fifo_progress } -> std::convertible_to<bool>;  // fifo, for the progress path
    };

// For any lock: one without priorities ignores the path.

template <Lock L>
void lock_on(L& lock, Path path, typename L::Node& me) noexcept {
    if constexpr (PriorityLock<L>)
        lock.lock(me, path);
    else
        lock.lock(me);
}
template <Lock L>
bool try_lock_on(L& lock, Path path, typename L::Node& me) noexcept {
    if constexpr (PriorityLock<L>)
        return lock.try_lock(me, path);
    else
        return lock.try_lock(me);
}
template <Lock L>
bool lock_on_for(L& lock, Path path, typename L::Node& me,
                 std::chrono::nanoseconds limit) noexcept {
    if constexpr (PriorityLock<L>)
        return lock.lock_for(me, path, limit);
    else
        return lock.lock_for(me, limit);
}

}  // namespace heddle::sync::locks
