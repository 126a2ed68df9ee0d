// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// mpiexec --children: the keeper of processes that MPI_Comm_spawn starts. The caller is a rank, or
/// a program without mpiexec (src/launch/children.hpp,
/// docs/adr/0058-children-by-a-nested-mpiexec.md).
///
/// Place          an orphan with its own name and process group. Under an outer mpiexec it belongs
///                to the keeper there. That keeper hands signals to it, waits for it, and in the
///                end kills the processes below it. Without an outer mpiexec its parent is a
///                watcher (watcher.hpp). Each of the two ends the job if the other is killed.
/// End            with the parent, unless the parent has released it. Failed starts, and children
///                that end before MPI_Init, are reported to the parent and not to the user.
/// Cores          those of the outer job, where others run already. There is no binding unless info
///                asks for one.

namespace heddle::mpiexec {

/// Runs the job that the parent has described. Returns the exit code, or throws Failure.
int run_children();

}  // namespace heddle::mpiexec
