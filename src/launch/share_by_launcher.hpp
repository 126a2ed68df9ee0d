// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The memory of a node whose launcher knows nothing of memory. The first of its ranks makes it and
/// tells the others where it is. They open it through the kernel's list of that rank's open files.
///
/// Nodes          are the launcher's. If it tells none, all ranks are taken to be on one. A rank
///                that is not ends the job.
/// Trust          such a path only means something if the first rank is the same process to both.
///                The others compare machine and PID namespace, and look at the file before they
///                open it for writing.
/// Failure        of one rank ends the job, since the others wait for it. The rank reports it on
///                stderr and to the launcher.

#include <functional>

#include "launch/job.hpp"

namespace heddle::launch {

/// Fills in the rest of a job with launcher, rank and size. Every rank calls it. If the job is on
/// several nodes, another fence must follow before any rank leaves (comm/other_nodes.hpp).
/// `between_nodes` is as in join().
void share_memory_by_launcher(Job& job, std::function<void()> between_nodes);

}  // namespace heddle::launch
