// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Says whether other processes use the cores of a job. A rank bound beside another process that
/// computes waits for it. The kernel would move an unbound rank to an idle core.

#include <string>
#include <vector>

#include "topology.hpp"

namespace heddle::mpiexec {

struct Surroundings {
    bool own =
        false;  ///< a batch system gave the cores, or a cpuset holds fewer than the machine has
    int busy =
        0;  ///< other processes' threads that run, or wait for a core, now; not read if `own`
};

/// Returns how many hardware threads the kernel uses, at least one.
int online_threads();

Surroundings look_around(const std::vector<Core>& cores);

}  // namespace heddle::mpiexec
