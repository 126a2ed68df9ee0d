// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Lets the only thread of a process do without locks what others would take many locks for.
///
/// Threads are counted as they come and go. A thread that comes waits until one that was alone has left
/// its section, and after that nobody is alone until it has gone.
///
/// Thread safety  each thread calls arrive() before anything else that the section is to exclude, and
///                leave() after all of it. enter() from threads that are there.
/// Invariants     (1) between an enter() that answered true and exit() no other thread is there.
///                (2) what a thread did before its leave() is seen by one that is alone after it.
/// Waiting        an arriving thread waits for the end of one section, which is short and waits for nobody;
///                it yields the core meanwhile.
/// Where there are no heavy fences, nobody is ever alone.

#include <cstdint>

#include "sync/native.hpp"

namespace heddle::sync {

template <class World = Native>
class BasicLoneThread {
public:
    void arrive() noexcept {
        threads_.fetch_add(1, relaxed);                     // ordered by F2
        World::Fence::heavy();                              // F2: pairs with F1
        while (inside_.load(acquire) != 0) World::yield();  // A1: pairs with R1
    }
    void leave() noexcept { threads_.fetch_sub(1, release); }  // R2: pairs with A2

    std::uint32_t threads() const noexcept { return threads_.load(relaxed); }

    /// True if the calling thread is alone until exit(); false: it has nothing to exit from.
    [[nodiscard]] bool enter() noexcept {
        if (threads_.load(relaxed) != 1 || !World::Fence::available()) return false;
        inside_.store(1, relaxed);  // ordered by F1
        World::Fence::light();      // F1: pairs with F2
        if (threads_.load(acquire) == 1) [[likely]]
            return true;  // A2: pairs with R2
        exit();
        return false;
    }
    void exit() noexcept { inside_.store(0, release); }  // R1: pairs with A1

private:
    typename World::template Atom<std::uint32_t> threads_{0};
    typename World::template Atom<std::uint32_t> inside_{0};
};

using LoneThread = BasicLoneThread<>;

}  // namespace heddle::sync
