// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The checker (docs/check.md): a library between program and MPI, in the ranks of `mpiexec
/// --check`.

#include <string>

#include "environment.hpp"
#include "unique_fd.hpp"

namespace heddle::mpiexec {

/// Preloads the checker before all other libraries. Throws Failure if the installation has none.
void load_checker(Environment& environment, bool json);

/// The memory in which the checkers of the ranks announce their calls to each other. Each checker
/// sets its length, and begins without waiting for the others.
struct CheckerMemory {
    UniqueFd file;
    std::string name;  ///< "process:descriptor:ranks:token", for the ranks; empty if there is no
                       ///< memory
};
CheckerMemory checker_memory(int ranks);

/// Sets the rank's variable to this memory, or removes it, so that no other job's memory is
/// inherited.
void name_checker_memory(Environment& environment, const CheckerMemory& memory);

}  // namespace heddle::mpiexec
