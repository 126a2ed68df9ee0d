// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// What becomes of a call to an MPI function that has no implementation yet.
///
/// The build finds these functions by asking the object files (abi/generate_unsupported.py) and
/// gives each a stand-in that calls unsupported(), so that every function of mpi.h exists.

#include <atomic>

namespace heddle::api {

/// Raises MPI_ERR_UNSUPPORTED_OPERATION for `mpi_name` ("MPI_Win_create"); answers the error code
/// that the function shall return. A program that does not look at it would go on as if the call had
/// done something: unless the error ends the program, it is said once on standard error. `said`: it has been.
int unsupported(const char* mpi_name, std::atomic_flag& said);

}  // namespace heddle::api
