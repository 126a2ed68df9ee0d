// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The checker (docs/check.md): a library that stands between program and MPI, in the ranks of `mpiexec --check`.

#include <string>

#include "environment.hpp"
#include "unique_fd.hpp"

namespace heddle::mpiexec {

/// Has the library loaded before all others. Failure: the installation has none.
void load_checker(Environment& environment, bool json);

/// Where the checkers of the ranks tell each other of their calls. Each gives it its length, and begins without waiting for
/// the others.
struct CheckerMemory {
    UniqueFd file;
    std::string name;  ///< "process:descriptor:ranks:token", for the ranks; empty: there is none
};
CheckerMemory checker_memory(int ranks);

/// Tells a rank of its memory, and of no other job's.
void name_checker_memory(Environment& environment, const CheckerMemory& memory);

}  // namespace heddle::mpiexec
