// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// mpiexec --children: the keeper of processes that a rank, or a program that is alone, has started by MPI_Comm_spawn
/// (src/launch/children.hpp, docs/adr/0058-children-by-a-nested-mpiexec.md).
///
/// Place          an orphan: under an outer mpiexec it belongs to the keeper there, which hands signals to it, waits for it, and
///                kills what is below it in the end. Elsewhere a watcher (watcher.hpp) is its parent: each of the two ends the job
///                if the other is killed. It has a name and a process group of its own.
/// End            with the parent, unless it was released. What cannot be started, and a child that ends before
///                MPI_Init, is told to the parent and not to the user.
/// Cores          those of the outer job, and no binding unless info asks for one: others run there already.

namespace heddle::mpiexec {

/// Runs the job that the parent has described; answers the exit code, or Failure.
int run_children();

}  // namespace heddle::mpiexec
