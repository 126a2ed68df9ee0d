// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// How many threads ranks will have, as far as OpenMP's variables say it, and whether these outnumber the cores.
///
/// Threads of OpenMP spin when they wait, for as long as they are told or for a while. Where a thread that computes
/// waits for the core of one that spins, programs take many times longer: OMP_WAIT_POLICY=passive lets them sleep.

#include <vector>

#include "job.hpp"
#include "topology.hpp"

namespace heddle::mpiexec {

/// For each rank the threads of its teams, by OMP_NUM_THREADS; 0 where nothing is said, and OpenMP takes one for each
/// hardware thread that the rank may use.
std::vector<int> openmp_threads(const Job& job);

/// Whether the threads of ranks with these bindings (empty: not bound) outnumber the hardware threads for them.
bool crowded(const std::vector<int>& threads, const std::vector<std::vector<int>>& bindings,
             const std::vector<Core>& cores);

}  // namespace heddle::mpiexec
