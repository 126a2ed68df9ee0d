// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Where the processes are that ranks of this job, or processes below them, have started by MPI_Comm_spawn: a report for each
/// such job on this machine, as RankReport has it (report.hpp). Their keepers are not asked: the jobs are found in /proc.

namespace heddle::mpiexec {

void tell_where_children_are();

}  // namespace heddle::mpiexec
