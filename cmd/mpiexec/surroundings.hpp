// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Whose the cores are that a job may use. A rank that is bound beside another process that computes waits for it,
/// while the kernel would move the rank to an idle core.

#include <string>
#include <vector>

#include "topology.hpp"

namespace heddle::mpiexec {

struct Surroundings {
    bool own =
        false;  ///< A batch system gave the cores, or a cpuset holds fewer than the machine has.
    int busy =
        0;  ///< Threads of other processes that run, or wait for a core, now. Not read where `own`.
};

/// How many hardware threads the kernel uses, at least one.
int online_threads();

Surroundings look_around(const std::vector<Core>& cores);

}  // namespace heddle::mpiexec
