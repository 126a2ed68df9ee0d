// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// How long a tick of the processor's counter (cpu.hpp) is.

#include <chrono>
#include <cstdint>

namespace heddle::platform {

/// To some parts in a thousand. Where the processor does not say, the first call measures for a few
/// milliseconds. Thread safety: any thread.
std::chrono::nanoseconds duration_of(std::uint64_t ticks) noexcept;

/// Whether stamps of the counter order what threads on different cores do one after the other
/// (ordered_ticks()): the counter is one for all cores, and fine enough. Thread safety: any thread.
bool ticks_order_threads() noexcept;

}  // namespace heddle::platform
