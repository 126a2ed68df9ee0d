// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Jobs on other machines. An installed launcher starts the ranks there, and this mpiexec runs the
/// launcher in the place of ranks. Signals, time limits and the end work as on one machine
/// (docs/adr/0035-jobs-on-several-hosts.md).
///
/// Options        are translated for srun, prterun and mpiexec.hydra, or refused if the launcher
///                has no equivalent. The parent of each rank (inner.hpp) applies those that concern
///                one rank: directory, variables, output.

#include "job.hpp"

namespace heddle::mpiexec {

/// Returns a job with the launcher in the place of the ranks, or throws Failure.
Job job_of_launcher(const Job& job);

/// Runs the job. Returns the exit code, or throws Failure.
int hand_over(const Job& job);

}  // namespace heddle::mpiexec
