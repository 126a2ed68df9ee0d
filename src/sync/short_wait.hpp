// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Waiting for a thread that is inside a few instructions, and whom nobody else waits for in another way.
///
/// It runs on another core, or was interrupted: then it wants this core. Offering it is not enough where the
/// caller has a higher priority of the real-time kind: it gets the core back at once, for ever. So after some offers
/// it sleeps between two looks.

#include <chrono>
#include <cstdint>

#include "sync/orders.hpp"

namespace heddle::sync {

template <class World, class Condition>
void wait_shortly_until(Condition&& over) noexcept {
    constexpr int offers_before_sleep = 64;
    constexpr std::chrono::microseconds sleep{50};
    typename World::template Atom<std::uint32_t> nobody_wakes{0};
    for (int offers = 0; !over(); ++offers) {
        if (offers < offers_before_sleep)
            World::yield();
        else
            World::wait_for(nobody_wakes, 0, sleep);
    }
}

}  // namespace heddle::sync
