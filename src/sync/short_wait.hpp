// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A wait for a thread that is inside a few instructions. No other thread waits for that one by
/// another method.
///
/// The awaited thread runs on another core, or was interrupted: then it wants this core. It is not
/// enough to offer the core if the caller has a higher priority of the real-time kind. Such a
/// caller gets the core back at once, for ever. So after some offers it sleeps between two looks.
///
/// If the other thread may also stay, a limit says after how many sleeps the caller gives up.

#include <chrono>
#include <cstdint>

#include "sync/orders.hpp"

namespace heddle::sync {

/// The turns of one wait.
template <class World>
class ShortWait {
public:
    /// Lets other threads run.
    void turn() noexcept {
        if (offers_ < offers_before_sleep) {
            ++offers_;
            return World::yield();
        }
        ++sleeps_;
        World::wait_for(nobody_wakes_, 0, sleep);
    }
    [[nodiscard]] std::uint32_t sleeps() const noexcept { return sleeps_; }

private:
    static constexpr std::uint32_t offers_before_sleep = 64;
    static constexpr std::chrono::microseconds sleep{50};

    typename World::template Atom<std::uint32_t> nobody_wakes_{0};
    std::uint32_t offers_ = 0, sleeps_ = 0;
};

template <class World, class Condition>
void wait_shortly_until(Condition&& over) noexcept {
    for (ShortWait<World> wait; !over();) wait.turn();
}

/// Returns false if the condition did not come to hold within so many sleeps.
template <class World, class Condition>
[[nodiscard]] bool wait_shortly_until(Condition&& over, std::uint32_t most_sleeps) noexcept {
    for (ShortWait<World> wait; !over(); wait.turn())
        if (wait.sleeps() == most_sleeps) return false;
    return true;
}

}  // namespace heddle::sync
