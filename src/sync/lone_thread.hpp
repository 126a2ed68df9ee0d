// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Lets the only thread of a process work without locks. Several threads would need many locks for
/// the same work.
///
/// Threads are counted as they come and go. A thread that comes waits until one that was alone has
/// left its section. After that no thread is alone until it has gone.
///
/// Thread safety  each thread calls arrive() before anything else that the section is to exclude,
///                and leave() after all of it. enter() from threads that are there.
/// Invariants     (1) between an enter() that returned true and exit() no other thread is there.
///                (2) what a thread did before its leave() is seen by one that is alone after it.
///                (3) while `excluded` is set, no thread is inside. None enters before it is
///                    cleared, which the only thread does.
/// Cost           the second thread to arrive passes a heavy fence. Later ones find out that it
///                has. An arrival is one locked instruction then, until a thread has been alone and
///                made use of it.
/// Waiting        an arriving thread waits for the end of one section, which is short and waits for
///                no thread; see sync/short_wait.hpp.
/// If there are no heavy fences, no thread is ever alone.

#include <cstdint>

#include "sync/native.hpp"
#include "sync/short_wait.hpp"

namespace heddle::sync {

template <class World = Native>
class BasicLoneThread {
public:
    void arrive() noexcept {
        // A3: pairs with R3, whose thread has waited for the end of the last section.
        const std::uint32_t before = threads_.fetch_add(1, acquire);
        // The first thread need not wait: one that was inside left before it was counted out.
        if (before == 0 || (before & excluded) != 0) return;
        World::Fence::heavy();  // F2: pairs with F1; the count above before the look below
        wait_shortly_until<World>(
            [this] { return inside_.load(acquire) == 0; });  // A1: pairs with R1
        threads_.fetch_or(excluded, release);                // R3
    }
    void leave() noexcept { threads_.fetch_sub(1, release); }  // R2: pairs with A2 and A4

    std::uint32_t threads() const noexcept { return threads_.load(relaxed) & ~excluded; }

    /// Returns true if the calling thread is alone until exit(). If it returns false, there is no
    /// section to exit from.
    [[nodiscard]] bool enter() noexcept {
        const std::uint32_t threads = threads_.load(relaxed);
        if (threads != 1 && (threads != (excluded | 1) || !end_exclusion())) return false;
        if (!World::Fence::available()) return false;
        inside_.store(1, relaxed);  // ordered by F1
        World::Fence::light();      // F1: pairs with F2
        if (threads_.load(acquire) == 1) [[likely]]
            return true;  // A2: pairs with R2
        exit();
        return false;
    }
    void exit() noexcept { inside_.store(0, release); }  // R1: pairs with A1

private:
    static constexpr std::uint32_t excluded = std::uint32_t{1} << 31;

    /// Returns true if the calling thread is the only one there is. Threads that come from now on
    /// pass fences again.
    [[gnu::noinline]] bool end_exclusion() noexcept {
        std::uint32_t alone = excluded | 1;
        // A4: pairs with R2.
        return threads_.compare_exchange_strong(alone, 1, acquire, relaxed);
    }

    typename World::template Atom<std::uint32_t> threads_{0};  ///< how many; and `excluded`, or not
    typename World::template Atom<std::uint32_t> inside_{0};
};

using LoneThread = BasicLoneThread<>;

}  // namespace heddle::sync
