// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The report of a rank at its end on what slowed it down (HEDDLE_ADVICE, mpiexec --advice).

#include "objects/process.hpp"

namespace heddle::api {

/// Writes to standard error in one piece, or nothing if no advice is asked for.
void report_advice(objects::Process& process);

}  // namespace heddle::api
