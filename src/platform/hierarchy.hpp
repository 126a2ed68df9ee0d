// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The nearness of processors as data, along which hierarchical locks are built.

#include <sched.h>
#include <vector>

namespace heddle::platform {

/// Groups of processors, level by level from the innermost on, without the level of the whole
/// machine. levels[l][p] is the group of processor p at level l. Groups are numbered from 0, and
/// each lies within one group of the next level. Without levels, all processors are equally near.
struct Hierarchy {
    std::vector<std::vector<unsigned>> levels;
};

/// Returns hwloc's hierarchy: cores, shared caches, memories, packages, if they tell processors
/// apart. The first call computes it, which takes a while. Thread safety: any thread.
const Hierarchy& hierarchy_of_machine();

/// Returns the number of the caller's processor, or 0 if it is unknown.
inline unsigned processor() noexcept {
    const int number = sched_getcpu();
    return number < 0 ? 0 : static_cast<unsigned>(number);
}

}  // namespace heddle::platform
