// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// What a rank says when it ends about what slowed it down (HEDDLE_ADVICE, mpiexec --advice).

#include "objects/process.hpp"

namespace heddle::api {

/// Writes to standard error in one piece, or nothing if it is not asked for.
void report_advice(objects::Process& process);

}  // namespace heddle::api
