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

/// Notes an offer that took so many ticks. Returns false if another thread kept the core for long.
/// That thread computes, and a sleep gets the core back sooner than an offer.
inline bool note_offer(core::Patience& patience, std::uint32_t took) noexcept {
    patience.quick_offer = std::min(patience.quick_offer, took);
    // An offer that no thread takes costs one system call, twice that is still one.
    if (took > 2 * patience.quick_offer)
        patience.offers_to_go = offers_until_alone;
    else if (patience.offers_to_go != 0)
        --patience.offers_to_go;
    return took < long_offer;
}

/// Offers the core. Returns as note_offer().
inline bool offer_core(core::Patience& patience) noexcept {
    const std::uint64_t before = platform::ticks();
    sync::Native::yield();
    return note_offer(patience, static_cast<std::uint32_t>(platform::ticks() - before));
}

}  // namespace heddle::progress
