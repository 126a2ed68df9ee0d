// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Reports the processes that ranks of this job, or processes below them, have started by
/// MPI_Comm_spawn. Each such job on this machine has a report like RankReport's (report.hpp). The
/// jobs are found in /proc, without their keepers.

namespace heddle::mpiexec {

void tell_where_children_are();

}  // namespace heddle::mpiexec
