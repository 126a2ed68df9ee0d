// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Turns the user's request into a job that can be started: finds files, fills in numbers, checks
/// limits.
///
/// Requests that are known to fail are refused here, before the first process exists.

#include "job.hpp"

namespace heddle::mpiexec {

/// Fills in `ranks` and `file` of every program, or throws Failure.
void resolve(Job& job, int cores);

/// Finds the file of one program, or throws Failure. Its code is exit_failed for a directory that
/// cannot be entered.
void resolve_program(Program& program);

/// Returns whether mpiexec may open enough files to serve `ranks` processes.
bool descriptors_suffice(int ranks, int descriptors_per_rank);

/// Throws Failure if this machine cannot hold `ranks` processes. Raises the limit on descriptors.
void check_limits(int ranks, int descriptors_per_rank);

}  // namespace heddle::mpiexec
