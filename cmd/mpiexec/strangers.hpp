// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Finds programs of another MPI whose ranks never find each other under this mpiexec. These are
/// programs of Open MPI, not of MPICH.

#include <sys/types.h>

#include <string>

namespace heddle::mpiexec {

/// Returns the file of another MPI's library that the process has loaded, or an empty text if there
/// is none.
std::string foreign_library(pid_t pid);

/// Returns advice on a rank that has loaded `library`.
std::string advice_on(const std::string& library);

}  // namespace heddle::mpiexec
