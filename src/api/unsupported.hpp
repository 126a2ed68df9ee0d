// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Calls of MPI functions that have no implementation yet.
///
/// The build finds these functions by asking the object files (abi/generate_unsupported.py). It
/// gives each a stand-in that calls unsupported(), so that every function of mpi.h exists.

#include <atomic>

namespace heddle::api {

/// Raises MPI_ERR_UNSUPPORTED_OPERATION for `mpi_name` ("MPI_Win_create"). Returns the error code
/// for the function to return. A program that ignores it would go on as if the call had done
/// something. So, unless the error ends the program, the call is reported once on standard error.
/// `said` tells that it has been.
int unsupported(const char* mpi_name, std::atomic_flag& said);

}  // namespace heddle::api
