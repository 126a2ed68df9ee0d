// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Jobs on other machines: a launcher that is installed starts the ranks there, and this mpiexec runs it in the place of
/// ranks, so that signals, time limits and the end are as on one machine (docs/adr/0035-jobs-on-several-hosts.md).
///
/// Options        are translated for srun, prterun and mpiexec.hydra, or refused where the launcher has none like them.
///                What concerns one rank (directory, variables, output) its own parent there does (inner.hpp).

#include "job.hpp"

namespace heddle::mpiexec {

/// The launcher in the place of the ranks, as a job of its own, or Failure.
Job job_of_launcher(const Job& job);

/// Runs the job; answers the exit code, or Failure.
int hand_over(const Job& job);

}  // namespace heddle::mpiexec
