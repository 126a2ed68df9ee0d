// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The memory of a job whose launcher knows nothing of memory: rank 0 makes it and tells the others where it is,
/// and they open it through the kernel's list of rank 0's open files.
///
/// Nodes          ranks on several, as the launcher counts them, are refused by all ranks before they wait for
///                each other.
/// Trust          such a path means something only where rank 0 is the same process to both: the others compare
///                machine and PID namespace, and look at what they find before they open it for writing.
/// Failure        of one rank ends the job, since the others wait for it: said on stderr and to the launcher.

#include "launch/job.hpp"

namespace heddle::launch {

/// Fills in the descriptor, which job.launcher, rank and size are enough for. Every rank calls it.
void share_memory_by_launcher(Job& job);

}  // namespace heddle::launch
