// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Sentry and watcher: the processes between guard and keeper, which only wait.
///
/// Guard, sentry, watcher and keeper are each other's ancestors and all subreapers. If any three of
/// them are killed at once, all processes of the job become children of the fourth. This includes
/// daemons in sessions of their own. The fourth ends them. Guard, sentry and watcher do so because
/// their child was killed, the keeper because the guard's pipe has ended.
///
/// The sentry has a session and a name of its own. A user may kill mpiexec's session, its process
/// groups, or all processes called mpiexec. The sentry is left then, and ends the job.

#include <functional>
#include <string>

#include "say.hpp"

namespace heddle::mpiexec {

/// Runs `run` in another process. Returns its exit code. If signal n has killed it, ends the job
/// and returns 128 + n. Call watch() in a process of its own, with SIGCHLD blocked. Calls
/// `prepare` once the other process exists, or `refused` with the reason why it does not.
int watch(const std::function<int()>& run, const std::function<void()>& prepare,
          const std::function<void(const std::string& why)>& refused = say);

}  // namespace heddle::mpiexec
