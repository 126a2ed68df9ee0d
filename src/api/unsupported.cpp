// SPDX-License-Identifier: BSD-3-Clause
#include "api/unsupported.hpp"

#include <mpi.h>
#include <unistd.h>

#include <exception>
#include <string_view>

#include "api/entry.hpp"

namespace heddle::api {
namespace {

constexpr int error = MPI_ERR_UNSUPPORTED_OPERATION;
constexpr const char* detail = "not supported by this version of Heddle";

/// Writes the line in one piece, so that lines of several ranks do not mix.
void say_once(const char* mpi_name, std::atomic_flag& said) {
    if (said.test_and_set(std::memory_order_relaxed)) return;
    const std::string line =
        "heddle: " + std::string(mpi_name) + ": " + detail + "; the call did nothing\n";
    if (write(STDERR_FILENO, line.data(), line.size()) < 0) return;
}

/// Returns whether it is of the tool interface, which calls no error handler (MPI 5.0, 15.3.5).
bool calls_no_handler(std::string_view mpi_name) noexcept { return mpi_name.starts_with("MPI_T_"); }

}  // namespace

int unsupported(const char* mpi_name, std::atomic_flag& said) {
    if (calls_no_handler(mpi_name)) {
        say_once(mpi_name, said);
        return error;
    }
    core::Thread* thread = enter(mpi_name);
    if (thread == nullptr) return objects::fail_outside(mpi_name, error, detail);
    const int code = objects::fail(*thread, nullptr, error, detail);
    say_once(mpi_name, said);
    return code;
}

}  // namespace heddle::api
