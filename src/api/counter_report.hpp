// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The report of a rank on its counters at its end (HEDDLE_COUNTERS, mpiexec --counters).

#include "objects/process.hpp"

namespace heddle::api {

/// Writes one table to standard error in one piece, or nothing if nothing is selected.
void report_counters(objects::Process& process);

}  // namespace heddle::api
