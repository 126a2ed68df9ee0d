// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The watcher: the process between guard and keeper, which only waits.
///
/// Guard, watcher and keeper are each other's ancestors and all subreapers. So whichever two of them are
/// killed at once, what the job has started, daemons in sessions of their own too, becomes the child of
/// the third, which ends it: guard and watcher because their child was killed, the keeper because nothing
/// comes from the guard any more.

#include <functional>

namespace heddle::mpiexec {

/// To be called in a process of its own, with SIGCHLD blocked. Runs `keep` in another one, the keeper;
/// answers its exit code, or ends the job and answers 128 + n when signal n has killed it.
int watch(const std::function<int()>& keep);

}  // namespace heddle::mpiexec
