// SPDX-License-Identifier: BSD-3-Clause
#include "api/unsupported.hpp"

#include <mpi.h>

#include <cstdio>

namespace heddle::api {

int unsupported(const char* mpi_name) noexcept {
    std::fprintf(stderr, "%s: not supported by this version of Heddle\n", mpi_name);
    return MPI_ERR_UNSUPPORTED_OPERATION;
}

}  // namespace heddle::api
