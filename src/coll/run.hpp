// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Running schedules.

#include "coll/schedule.hpp"
#include "core/thread.hpp"

namespace heddle::coll {

/// Runs the schedule to its end, sleeping where it waits. Answers MPI_SUCCESS or the first error,
/// which has been raised. A message that is too long does not stop it: the other processes, which
/// know nothing of the error, still get what they wait for. Neither does an exception that leaves an
/// operation of the program: it passes through at the end.
int run(core::Thread& thread, const Schedule& schedule);

}  // namespace heddle::coll
