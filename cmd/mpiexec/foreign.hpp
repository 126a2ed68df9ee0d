// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Options and variables of other launchers: MPICH's Hydra, Intel MPI, Open MPI with PRRTE.
///
/// Each has a row in one of two tables. It is translated if mpiexec has the same feature. It is
/// accepted in silence if it changes nothing. Otherwise it is noted in Job::ignored, of which
/// mpiexec warns. None is refused.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "job.hpp"
#include "options.hpp"

namespace heddle::mpiexec {

std::span<const Option> foreign_options();

/// Applies a parameter of Open MPI. `option` is the option as the user wrote it.
void hear_parameter(Job& job, std::string_view option, std::string_view key,
                    const std::string& value);

/// Applies variables of the environment unless the command line sets the same. A rank of another
/// job has variables of its launcher, which are left alone.
void hear_variables(Job& job);

}  // namespace heddle::mpiexec
