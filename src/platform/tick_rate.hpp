// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The length of a tick of the processor's counter (cpu.hpp).

#include <chrono>
#include <cstdint>

namespace heddle::platform {

/// Converts ticks, exact to some parts in a thousand. If the processor does not tell the rate, the
/// first call measures it for a few milliseconds. Thread safety: any thread.
std::chrono::nanoseconds duration_of(std::uint64_t ticks) noexcept;

/// Returns whether stamps of the counter (ordered_ticks()) order successive actions of threads on
/// different cores. The counter must be one for all cores, and fine enough. Thread safety: any
/// thread.
bool ticks_order_threads() noexcept;

}  // namespace heddle::platform
