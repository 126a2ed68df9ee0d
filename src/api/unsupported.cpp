// SPDX-License-Identifier: BSD-3-Clause
#include "api/unsupported.hpp"

#include <mpi.h>

#include <exception>
#include <string_view>

#include "api/entry.hpp"

namespace heddle::api {

int unsupported(const char* mpi_name) noexcept {
    constexpr int error = MPI_ERR_UNSUPPORTED_OPERATION;
    const std::string_view name = mpi_name;
    // The tool interface calls no error handler (MPI 5.0, 15.3.5); that of files returns unless the
    // program says otherwise (14.7).
    if (name.starts_with("MPI_T_") || name.starts_with("MPI_File_")) return error;
    const char* detail = "not supported by this version of Heddle";
    core::Thread* thread = enter(mpi_name);
    if (thread == nullptr) return objects::fail_outside(mpi_name, error, detail);
    try {
        return objects::fail(*thread, nullptr, error, detail);
    } catch (const std::exception&) {
        return error;
    }
}

}  // namespace heddle::api
