// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The offer of a core to other threads, by a thread that spins.

#include <algorithm>
#include <cstdint>

#include "core/thread.hpp"
#include "platform/cpu.hpp"
#include "sync/native.hpp"

namespace heddle::progress {

/// Offers in a row that no thread takes, until a crowded core is one that no other thread wants.
/// The kernel may run the thread again although others want the core. It does so if they are in
/// other sessions or control groups.
inline constexpr std::uint8_t offers_until_alone = 8;
inline constexpr std::uint32_t long_offer = 600'000;  ///< ticks, some tenths of a millisecond
/// Offers in a row that no thread takes, until naps take their place, and naps until there are
/// offers again. The kernel may owe time to a thread that has slept. Then sched_yield() returns at
/// once, although a thread with work is ready, and does so for milliseconds. A nap gives the core
/// away in any case. So does a sleep, but another thread must end it, and the kernel owes even
/// more.
inline constexpr std::uint8_t offers_before_naps = 80, naps_before_offers = 40;

/// Notes an offer that took so many ticks. Returns false if another thread kept the core for long.
/// That thread computes, and a sleep gets the core back sooner than an offer. `shared`: there are
/// more threads than the cores can run.
inline bool note_offer(core::Patience& patience, std::uint32_t took, bool shared) noexcept {
    patience.quick_offer = std::min(patience.quick_offer, took);
    // An offer that no thread takes costs one system call, twice that is still one.
    if (took > 2 * patience.quick_offer) {
        patience.offers_to_go = offers_until_alone;
        patience.vain_offers = 0;
    } else {
        if (patience.offers_to_go != 0) --patience.offers_to_go;
        patience.vain_offers = shared ? patience.vain_offers + 1 : 0;
    }
    return took < long_offer;
}

/// Returns whether a nap takes the place of the offer of a shared core.
inline bool naps(core::Patience& patience) noexcept {
    if (patience.vain_offers < offers_before_naps) return false;
    if (++patience.vain_offers > offers_before_naps + naps_before_offers) patience.vain_offers = 0;
    return patience.vain_offers != 0;
}

/// Offers the core. Returns as note_offer().
inline bool offer_core(core::Patience& patience, bool shared) noexcept {
    if (shared && naps(patience)) [[unlikely]] {
        sync::Native::nap();
        return true;
    }
    const std::uint64_t before = platform::ticks();
    sync::Native::yield();
    return note_offer(patience, static_cast<std::uint32_t>(platform::ticks() - before), shared);
}

}  // namespace heddle::progress
