// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Where each rank is: what --timeout tells before it ends the job. Of ranks that another launcher has started each
/// keeper tells of its own.

#include <vector>

#include "job.hpp"
#include "node_memory.hpp"
#include "pmi_server.hpp"
#include "rank.hpp"

namespace heddle::mpiexec {

/// A line for every rank, and for every thread of it that is blocked in an MPI call; then hints.
void report_ranks(const Job& job, const std::vector<Rank>& ranks, const NodeMemory& memory,
                  const PmiServer& pmi);

}  // namespace heddle::mpiexec
