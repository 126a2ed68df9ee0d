// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// mpiexec --inner: the parent of one rank that another launcher has started (hand_over.hpp).
///
/// A rank thus ends as on one machine, under every launcher. It has whole lines, a tag, and the
/// exit code of a signal. A sentence says which rank has ended and where. No process is left
/// behind.

#include "job.hpp"

namespace heddle::mpiexec {

/// Runs a job of one rank. Returns the exit code, or throws Failure.
int run_inner(Job& job);

}  // namespace heddle::mpiexec
