// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Info of MPI_Comm_spawn as options of mpiexec.

#include "job.hpp"
#include "launch/children.hpp"

namespace heddle::mpiexec {

/// Does to `job` and `program` what the options would that keys name. Other keys are no matter. Failure, naming the key, if
/// a value is wrong.
void apply_info(const launch::InfoPairs& info, Job& job, Program& program);

/// Applies a list of options that concern all programs, those of the variable HEDDLE_SPAWN_OPTIONS. Failure if it has others.
void apply_spawn_options(std::string_view text, Job& job);

/// The text for that variable: what of this job's options concerns those whom its ranks start, too.
std::string spawn_options(const Job& job);

}  // namespace heddle::mpiexec
