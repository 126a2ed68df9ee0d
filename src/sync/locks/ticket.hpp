// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// "ticket": two counters. A thread takes the next ticket and waits until it is served; all threads
/// look at the same line.
///
/// Invariants     (1) serving_ <= next_; the lock is free while they are equal.
///                (2) each ticket in [serving_, next_) belongs to one thread, which will be served.
/// Time limit     lock_for() takes a ticket only when it would be served at once. So it has no
///                place in the order, and does not get the lock as long as others queue.
///                lock_one_of_two_for() does better if at most two threads compete. It takes its
///                ticket at the beginning, and gives it back in the end. That works because no
///                thread can have come after it.

#include "sync/locks/lock.hpp"
#include "sync/locks/waiting.hpp"
#include "sync/native.hpp"

namespace heddle::sync::locks {

template <class World = Native>
class Ticket {
public:
    struct Node {};
    static constexpr std::string_view name = "ticket";
    static constexpr bool fifo = true;

    Ticket() = default;
    Ticket(const Ticket&) = delete;
    Ticket& operator=(const Ticket&) = delete;

    void lock(Node&) noexcept {
        // Relaxed: a ticket says only when to look; A1 orders the section.
        const std::uint64_t mine = next_.fetch_add(1, relaxed);
        for (Waiting<World> waiting; serving_.load(acquire) != mine;)
            waiting.pause();  // A1: pairs with R1
    }
    bool try_lock(Node&) noexcept {
        const std::uint64_t serving = serving_.load(acquire);  // A1
        std::uint64_t free = serving;
        // Relaxed: it succeeds only if the ticket is served already, as A1 has seen.
        return next_.load(relaxed) == serving &&
            next_.compare_exchange_strong(free, serving + 1, relaxed);
    }
    bool lock_for(Node& me, std::chrono::nanoseconds limit) noexcept {
        if (try_lock(me)) return true;
        if (limit.count() <= 0) return false;
        const Deadline<World> deadline(limit);
        for (Waiting<World> waiting; !deadline.passed();) {
            waiting.pause();
            if (try_lock(me)) return true;
        }
        return false;
    }
    /// Does the same in the order of arrival, for locks that at most two threads use at a time.
    bool lock_one_of_two_for(Node& me, std::chrono::nanoseconds limit) noexcept {
        if (limit.count() <= 0) return try_lock(me);
        const Deadline<World> deadline(limit);
        const std::uint64_t mine = next_.fetch_add(1, relaxed);  // as in lock()
        for (Waiting<World> waiting; serving_.load(acquire) != mine; waiting.pause()) {  // A1
            std::uint64_t after = mine + 1;
            // Relaxed: nothing was touched. If it fails the other thread has taken a ticket again.
            // So that has left the section, and this thread is served.
            if (deadline.passed() && next_.compare_exchange_strong(after, mine, relaxed))
                return false;
        }
        return true;
    }
    void unlock(Node&) noexcept {
        const std::uint64_t mine = serving_.load(relaxed);  // only the holder changes it
        serving_.store(mine + 1, release);                  // R1: pairs with A1
    }
    /// Relaxed: a thread that has taken a ticket beyond the holder's will be served, seen early or
    /// late.
    bool nowaiters(const Node&) const noexcept {
        return next_.load(relaxed) == serving_.load(relaxed) + 1;
    }

private:
    alignas(cache_line) typename World::template Atom<std::uint64_t> next_{0};
    alignas(cache_line) typename World::template Atom<std::uint64_t> serving_{0};
};

}  // namespace heddle::sync::locks
