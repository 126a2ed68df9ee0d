// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// mpiexec --inner: the parent of one rank that another launcher has started (hand_over.hpp).
///
/// So a rank ends as on one machine, whichever launcher it has: whole lines, a tag, the exit code of a signal, a
/// sentence that says who has ended and where, and nothing that stays behind.

#include "job.hpp"

namespace heddle::mpiexec {

/// Runs a job of one rank; answers the exit code, or Failure.
int run_inner(Job& job);

}  // namespace heddle::mpiexec
