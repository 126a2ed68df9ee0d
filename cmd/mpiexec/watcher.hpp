// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Sentry and watcher: the processes between guard and keeper, which only wait.
///
/// Guard, sentry, watcher and keeper are each other's ancestors and all subreapers. So whichever three of them
/// are killed at once, what the job has started, daemons in sessions of their own too, becomes the child of
/// the fourth, which ends it: the first three because their child was killed, the keeper because nothing
/// comes from the guard any more.
///
/// The sentry has a session and a name of its own. Whoever kills mpiexec's session, its process groups, or all
/// that is called mpiexec, leaves the sentry, and with it nothing of the job.

#include <functional>
#include <string>

#include "say.hpp"

namespace heddle::mpiexec {

/// To be called in a process of its own, with SIGCHLD blocked. Runs `run` in another one; answers its exit
/// code, or ends the job and answers 128 + n when signal n has killed it. `settle_in` is called once there is
/// that other process; `refused` says why there is none.
int watch(const std::function<int()>& run, const std::function<void()>& settle_in,
          const std::function<void(const std::string& why)>& refused = say);

}  // namespace heddle::mpiexec
