// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The clocks of a traced process: ticks as nanoseconds, and their offset to the clock of another
/// host.

#include "layout.hpp"

namespace heddle::trace {

/// Reads the clocks for the first time.
void measure_clock(File& file) noexcept;

/// Reads the clocks again. The later that is, the more exact is the length of a tick.
void renew_clock(File& file) noexcept;

/// Measures the offset of this host's clock to that of rank 0, by the shortest of several round
/// trips. All processes of MPI_COMM_WORLD call it, `which` being 0 at first and 1 in the end. Does
/// nothing if all ranks are on one host.
void align_clock(File& file, int which) noexcept;

}  // namespace heddle::trace
