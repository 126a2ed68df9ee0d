// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Programs of another MPI whose ranks never find each other under this mpiexec: those of Open MPI, not those of MPICH.

#include <sys/types.h>

#include <string>

namespace heddle::mpiexec {

/// The file of another MPI's library that the process has loaded; empty: there is none.
std::string foreign_library(pid_t pid);

/// What to do about it.
std::string advice_on(const std::string& library);

}  // namespace heddle::mpiexec
