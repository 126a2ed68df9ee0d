// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Which hardware threads each rank may use.
///
/// By default a rank gets a share of the cores, neighbouring ones, for its threads: shares are equal, or as OMP_NUM_THREADS
/// has it. Nothing is bound where only the scheduler can balance: when ranks outnumber cores, and when other
/// processes run on cores that are not the job's own (surroundings.hpp). --map-by socket or numa deals the ranks
/// out to these in turn and shares the cores of each among the ranks on it. What is asked for is obeyed, also when
/// ranks have to share.

#include <string>
#include <vector>

#include "job.hpp"
#include "surroundings.hpp"
#include "topology.hpp"

namespace heddle::mpiexec {

struct Bindings {
    std::vector<std::vector<int>> threads;  ///< for each rank, increasing; empty: not bound
    std::string why_not;                    ///< Why nothing is bound, where nobody asked for that.
};

/// `threads` has an entry for each rank: how many it will have, 0 where that is not known.
Bindings place(const Placement& placement, const std::vector<Core>& cores,
               const std::vector<int>& threads, const Surroundings& surroundings);

/// What cannot be as it was asked for; empty: nothing.
std::string impossible_placement(const Placement& placement, const std::vector<Core>& cores,
                                 int ranks);

/// Binds the calling process. False when the kernel refuses.
bool bind_here(const std::vector<int>& threads) noexcept;

/// What --report-bindings prints, a line for each rank.
void report_bindings(const Bindings& bindings);

}  // namespace heddle::mpiexec
