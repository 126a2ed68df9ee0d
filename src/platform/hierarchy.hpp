// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Which processors are near to one another, as data: what hierarchical locks are built along.

#include <sched.h>
#include <vector>

namespace heddle::platform {

/// Groups of processors, level by level from the innermost on, without the level of the whole machine:
/// levels[l][p] is the group of processor p at level l. Groups are numbered from 0, and each lies within
/// one group of the next level. No levels: all processors are equally near.
struct Hierarchy {
    std::vector<std::vector<unsigned>> levels;
};

/// As hwloc knows it: cores, shared caches, memories, packages, as far as they tell processors apart.
/// Found out when it is first asked for, which takes a while. Thread safety: any thread.
const Hierarchy& hierarchy_of_machine();

/// The number of the processor that the caller is running on; 0 where that is not known.
inline unsigned processor() noexcept {
    const int number = sched_getcpu();
    return number < 0 ? 0 : static_cast<unsigned>(number);
}

}  // namespace heddle::platform
