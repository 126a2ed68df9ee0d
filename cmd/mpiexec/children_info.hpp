// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Applies the info of MPI_Comm_spawn as options of mpiexec.

#include "job.hpp"
#include "launch/children.hpp"

namespace heddle::mpiexec {

/// Applies each known key to `job` and `program` like the option of that name. Ignores other keys.
/// Throws Failure, naming the key, if a value is wrong.
void apply_info(const launch::InfoPairs& info, Job& job, Program& program);

/// Applies the options of the variable HEDDLE_SPAWN_OPTIONS, which must concern all programs.
/// Throws Failure if one does not.
void apply_spawn_options(std::string_view text, Job& job);

/// Returns the text for that variable: those of this job's options that also apply to jobs that its
/// ranks start.
std::string spawn_options(const Job& job);

}  // namespace heddle::mpiexec
