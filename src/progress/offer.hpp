// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The offer of a core to other threads, by a thread that spins.

#include <cstdint>

#include "core/thread.hpp"
#include "platform/cpu.hpp"
#include "sync/native.hpp"

namespace heddle::progress {

inline constexpr std::uint32_t long_offer = 600'000;  ///< ticks, some tenths of a millisecond

/// Offers the core, and notes whether another thread took it. Returns false if that thread kept it
/// for long. It computes then, and a sleep gets the core back sooner than an offer.
inline bool offer_core(core::Patience& patience) noexcept {
    const std::uint64_t before = platform::ticks();
    sync::Native::yield();
    const auto took = static_cast<std::uint32_t>(platform::ticks() - before);
    if (patience.quick_offer == 0 || took < patience.quick_offer) patience.quick_offer = took;
    // An offer that no thread takes costs one system call, twice that is still one.
    patience.crowded = took > 2 * patience.quick_offer;
    return took < long_offer;
}

}  // namespace heddle::progress
