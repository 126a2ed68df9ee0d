// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// What launchers say in environment variables.

#include <string>

namespace heddle::launch {

/// The number in a variable, which must be one that counts ranks. Throws std::runtime_error.
int number_in(const char* variable);

struct RankInJob {
    int rank, size;
};
/// As PMI_RANK and PMI_SIZE say. Throws std::runtime_error.
RankInJob rank_in_job();

/// What an outer mpiexec has for the mpiexec that starts children of this process (HEDDLE_SPAWN_OPTIONS): out of the environment,
/// for nobody else, once keep_variables_from_children() was called. Empty: nothing.
std::string spawn_options();

/// Programs that this one starts are not ranks of its job: the variables that made it one are not for them.
/// Which rank they come from they may know.
void keep_variables_from_children() noexcept;

/// Where those are who have started this job by MPI_Comm_spawn; empty: nobody has. Programs that this one starts do not
/// find it.
std::string take_parent();

}  // namespace heddle::launch
