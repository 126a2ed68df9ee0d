// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Threads of a program that wait outside of MPI for another thread of their process: for a mutex, a condition, a semaphore or
/// the end of a thread.
///
/// Proof          such a thread is in the system call futex, without a time limit, at a word that no other process can have
///                (FUTEX_PRIVATE_FLAG), or that holds the number of a thread of the process, as pthread_join waits for it. Only a
///                thread of the process wakes it then. A signal handler could, too: so none of a process that catches signals
///                with which timers, children or users call.
/// Doubt          where the kernel does not show system calls, nothing is known.

#include <sys/types.h>

#include <vector>

#include "snapshot.hpp"

namespace heddle::hangs {

/// Fills in Thread::wait of the threads of that process which sleep and are not in `rank.waiting`.
void look_at_program_waits(Rank& rank);

}  // namespace heddle::hangs
