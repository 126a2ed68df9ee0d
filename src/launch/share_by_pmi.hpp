// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The memory of a job whose launcher speaks PMI-1 and knows nothing of memory: rank 0 makes it and tells the
/// others where it is, and they open it through the kernel's list of rank 0's open files.
///
/// Trust          such a path means something only where rank 0 is the same process to both: the others compare
///                machine and PID namespace, and look at what they find before they open it for writing.
/// Failure        of one rank ends the job, since the others wait for it: said on stderr and to the launcher.

#include "launch/job.hpp"

namespace heddle::launch {

/// Fills in the descriptor, which job.pmi, rank and size are enough for. Every rank calls it.
void share_memory_by_pmi(Job& job);

}  // namespace heddle::launch
