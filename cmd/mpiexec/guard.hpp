// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The guard: the process that the user started and sees.
///
/// It passes signals on to the keeper (keeper.hpp), which does the work. It stops and continues
/// with the job as the terminal demands, and copies standard input if necessary. The sentry and the
/// watcher (watcher.hpp) are between guard and keeper. If one of them is killed, perhaps with the
/// keeper, the guard ends the job itself.

#include <vector>

namespace heddle::mpiexec {

struct Job;

/// Saves main()'s argv, which run_job() overwrites in the other processes.
void remember_arguments(char** arguments);

/// Runs a resolved job and returns the exit code. Throws Failure if the job could not be started.
int run_job(const Job& job, const std::vector<std::vector<int>>& bindings);

}  // namespace heddle::mpiexec
