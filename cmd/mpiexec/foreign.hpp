// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Options and variables of other launchers: MPICH's Hydra, Intel MPI's, Open MPI's with PRRTE.
///
/// Each has a row in one of two tables. It is translated where mpiexec has the same thing, accepted in silence where it
/// changes nothing, and otherwise noted in Job::ignored, of which mpiexec warns. None is refused.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "job.hpp"
#include "options.hpp"

namespace heddle::mpiexec {

std::span<const Option> foreign_options();

/// Hears a parameter of Open MPI, written as `option` says.
void hear_parameter(Job& job, std::string_view option, std::string_view key,
                    const std::string& value);

/// Hears the variables in the environment, where the command line says nothing of the same. A rank of another job
/// has those of its launcher, which are left alone.
void hear_variables(Job& job);

}  // namespace heddle::mpiexec
