// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// From what the user asked to what can be started: files found, numbers filled in, limits looked
/// at.
///
/// What can be known to fail is refused here, before the first process exists.

#include "job.hpp"

namespace heddle::mpiexec {

/// Fills in `ranks` and `file` of every program, or Failure.
void settle(Job& job, int cores);

/// Finds the file of one program, or Failure: of exit_failed for a directory that cannot be entered.
void settle_program(Program& program);

/// Whether mpiexec may open as many files as it takes to serve `ranks` processes.
bool descriptors_suffice(int ranks, int descriptors_per_rank);

/// Failure when this machine cannot hold `ranks` processes; raises the limit on descriptors.
void check_limits(int ranks, int descriptors_per_rank);

}  // namespace heddle::mpiexec
