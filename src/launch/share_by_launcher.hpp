// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The memory of a node whose launcher knows nothing of memory: the first of its ranks makes it and tells the
/// others where it is, and they open it through the kernel's list of that rank's open files.
///
/// Nodes          are the launcher's. Where it tells none, all ranks are taken to be on one, and one that is not ends the job.
/// Trust          such a path means something only where the first rank is the same process to both: the others compare
///                machine and PID namespace, and look at what they find before they open it for writing.
/// Failure        of one rank ends the job, since the others wait for it: said on stderr and to the launcher.

#include <functional>

#include "launch/job.hpp"

namespace heddle::launch {

/// Fills in what is left of a job with launcher, rank and size. Every rank calls it. Where the job is on several nodes,
/// another fence must follow before any rank leaves (comm/other_nodes.hpp). `between_nodes` as for join().
void share_memory_by_launcher(Job& job, std::function<void()> between_nodes);

}  // namespace heddle::launch
