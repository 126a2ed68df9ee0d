// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Estimates the threads of the ranks from OpenMP's variables, and whether they outnumber the
/// cores.
///
/// Waiting threads of OpenMP spin, for a configured time or for a while. If such a thread holds the
/// core that a computing thread needs, programs take many times longer. OMP_WAIT_POLICY=passive
/// makes waiting threads sleep.

#include <vector>

#include "job.hpp"
#include "topology.hpp"

namespace heddle::mpiexec {

/// Returns for each rank the size of its teams by OMP_NUM_THREADS. It is 0 if the variable is not
/// set. OpenMP then uses one thread for each hardware thread of the rank.
std::vector<int> openmp_threads(const Job& job);

/// Returns true if the ranks' threads outnumber the hardware threads for them. An entry of
/// `bindings` is empty if its rank is not bound.
bool crowded(const std::vector<int>& threads, const std::vector<std::vector<int>>& bindings,
             const std::vector<Core>& cores);

}  // namespace heddle::mpiexec
