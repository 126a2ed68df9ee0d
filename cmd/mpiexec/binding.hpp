// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Which hardware threads each rank may use.
///
/// By default a rank gets an equal share of the cores, neighbouring ones, for its threads; when
/// ranks outnumber cores nothing is bound, since then only the scheduler can balance. --map-by
/// socket or numa deals the ranks out to these in turn and shares the cores of each among the
/// ranks on it. An explicit --bind-to core or hwthread is obeyed also when ranks have to share.

#include <string>
#include <vector>

#include "job.hpp"
#include "topology.hpp"

namespace heddle::mpiexec {

/// For each rank its hardware threads, increasing; empty: not bound.
std::vector<std::vector<int>> place(const Placement& placement, const std::vector<Core>& cores,
                                    int ranks);

/// What cannot be as it was asked for; empty: nothing.
std::string impossible_placement(const Placement& placement, const std::vector<Core>& cores,
                                 int ranks);

/// Binds the calling process. False when the kernel refuses.
bool bind_here(const std::vector<int>& threads) noexcept;

/// What --report-bindings prints, a line for each rank.
void report_bindings(const std::vector<std::vector<int>>& bindings);

}  // namespace heddle::mpiexec
