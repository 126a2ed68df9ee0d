// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// "mutex": the library's own mutex, for the Pthread mutex of P2. It is a test-and-set in user
/// space, then a sleep in the kernel; a running thread overtakes a woken one.
///
/// Time limit     a futex wait with a limit.
/// nowaiters()    from a count of the threads in lock(), which sync::Mutex itself does not need.
///                There a thread with a time limit counts as a sleeper, too.

#include "sync/locks/lock.hpp"
#include "sync/mutex.hpp"

namespace heddle::sync::locks {

template <class World = Native>
class MutexLock {
public:
    struct Node {};
    static constexpr std::string_view name = "mutex";
    static constexpr bool fifo = false;

    MutexLock() = default;
    MutexLock(const MutexLock&) = delete;
    MutexLock& operator=(const MutexLock&) = delete;

    void lock(Node&) noexcept {
        if (mutex_.try_lock()) return;
        // Both relaxed: a count above zero is a thread that is still to get the mutex. It takes
        // itself off only as the holder, and holders see each other's changes.
        waiting_.fetch_add(1, relaxed);
        mutex_.lock();
        waiting_.fetch_sub(1, relaxed);
    }
    bool try_lock(Node&) noexcept { return mutex_.try_lock(); }
    bool lock_for(Node&, std::chrono::nanoseconds limit) noexcept { return mutex_.lock_for(limit); }
    void unlock(Node&) noexcept { mutex_.unlock(); }
    bool nowaiters(const Node&) const noexcept { return waiting_.load(relaxed) == 0; }

private:
    BasicMutex<World> mutex_;
    typename World::template Atom<std::uint32_t> waiting_{0};
};

}  // namespace heddle::sync::locks
