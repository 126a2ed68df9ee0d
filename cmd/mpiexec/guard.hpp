// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The guard: the process that the user started and sees.
///
/// It passes signals on to the keeper (keeper.hpp), which does the work, stops and continues with
/// the job as the terminal wants it, and copies standard input where that is needed. When the
/// sentry or the watcher (watcher.hpp) between them is killed, and perhaps the keeper with them, it ends the
/// job itself.

#include <vector>

namespace heddle::mpiexec {

struct Job;

/// The argv of main(), which run_job() overwrites in the other processes.
void remember_arguments(char** arguments);

/// Runs a settled job; answers the exit code. Failure when it could not be started.
int run_job(const Job& job, const std::vector<std::vector<int>>& bindings);

}  // namespace heddle::mpiexec
