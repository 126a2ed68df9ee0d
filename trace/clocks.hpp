// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The clocks of a traced process: ticks as nanoseconds, and what the clock of another host shows at the same time.

#include "layout.hpp"

namespace heddle::trace {

/// Reads the clocks for the first time.
void measure_clock(File& file) noexcept;

/// Reads them again: the later, the better are ticks known.
void renew_clock(File& file) noexcept;

/// Measures how far this host's clock is from that of rank 0, by messages there and back: the shortest of them. All
/// processes of MPI_COMM_WORLD call it, `which` being 0 at first and 1 in the end. Nothing where all are on one host.
void align_clock(File& file, int which) noexcept;

}  // namespace heddle::trace
