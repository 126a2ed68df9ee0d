// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Data of launchers in environment variables.

#include <string>

namespace heddle::launch {

/// Returns the number in a variable, which must be one that counts ranks. Throws
/// std::runtime_error.
int number_in(const char* variable);

struct RankInJob {
    int rank, size;
};
/// Returns the values of PMI_RANK and PMI_SIZE. Throws std::runtime_error.
RankInJob rank_in_job();

/// Returns the options of an outer mpiexec for the mpiexec that starts children of this process
/// (HEDDLE_SPAWN_OPTIONS). Once keep_variables_from_children() was called, they are not in the
/// environment, and no other program gets them. Empty if there are none.
std::string spawn_options();

/// Removes the variables that made this process a rank: programs that it starts are not ranks of
/// its job. They may know which rank they come from.
void keep_variables_from_children() noexcept;

/// Returns the place of the processes that have started this job by MPI_Comm_spawn. Empty if none
/// have. Programs that this one starts do not find it.
std::string take_parent();

}  // namespace heddle::launch
