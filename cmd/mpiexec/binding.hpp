// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Chooses the hardware threads that each rank may use.
///
/// By default a rank gets a share of the cores, neighbouring ones, for its threads. Shares are
/// equal, or follow OMP_NUM_THREADS. Nothing is bound if only the scheduler can balance. This is so
/// if ranks outnumber cores, or if other processes run on cores that are not the job's
/// (surroundings.hpp). --map-by socket or numa deals the ranks to these in turn. Each shares its
/// cores among its ranks. Explicit requests are obeyed, even if ranks have to share cores.

#include <string>
#include <vector>

#include "job.hpp"
#include "surroundings.hpp"
#include "topology.hpp"

namespace heddle::mpiexec {

struct Bindings {
    std::vector<std::vector<int>> threads;  ///< for each rank, increasing; empty if it is not bound
    std::string why_not;                    ///< the reason, if nothing is bound and the user did
                                            ///< not ask for that
};

/// Returns the binding of each rank. `threads` has the number of threads of each rank, 0 if it is
/// unknown.
Bindings place(const Placement& placement, const std::vector<Core>& cores,
               const std::vector<int>& threads, const Surroundings& surroundings);

/// Returns a description of the request that cannot be met. Returns an empty text if there is none.
std::string impossible_placement(const Placement& placement, const std::vector<Core>& cores,
                                 int ranks);

/// Binds the calling process. Returns false if the kernel refuses.
bool bind_here(const std::vector<int>& threads) noexcept;

/// Prints the lines of --report-bindings, one for each rank.
void report_bindings(const Bindings& bindings);

}  // namespace heddle::mpiexec
