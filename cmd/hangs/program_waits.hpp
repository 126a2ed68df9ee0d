// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Finds threads that wait outside of MPI for another thread of their process. They wait for a
/// mutex, a condition, a semaphore or the end of a thread.
///
/// Proof          such a thread is in the system call futex, without a time limit. No other process
///                can have its word (FUTEX_PRIVATE_FLAG). Or the word holds the number of a thread
///                of the process, as in pthread_join. Only a thread of the process wakes it then. A
///                signal handler could, too. So no thread counts if its process catches signals of
///                timers, children or users.
/// Doubt          if the kernel does not show system calls, nothing is known.

#include <sys/types.h>

#include <vector>

#include "snapshot.hpp"

namespace heddle::hangs {

/// Fills in Thread::wait of the threads of that process which sleep and are not in `rank.waiting`.
void look_at_program_waits(Rank& rank);

}  // namespace heddle::hangs
