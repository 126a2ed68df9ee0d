// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Failures of files: the class of MPI's error (MPI 5.0, 14.7), and errno's words.

#include <cstdint>
#include <string>

#include "mpi.h"

namespace heddle::io {

int class_of_errno(int error) noexcept;
std::string words_of(int error);

/// The failure of an access, kept until the caller's thread raises it. Plain bytes, so that it can
/// be sent to other processes.
struct Failure {
    int error_class = MPI_SUCCESS;
    int system_error = 0;  ///< errno; 0: `why` says it
    std::int64_t at = -1;  ///< in bytes of the file; -1: no certain place
    std::uint64_t bytes = 0;
    char why[72] = {};

    explicit operator bool() const noexcept { return error_class != MPI_SUCCESS; }
    static Failure of_system(int error, std::int64_t at = -1, std::uint64_t bytes = 0) noexcept {
        Failure failure;
        failure.error_class = class_of_errno(error);
        failure.system_error = error;
        failure.at = at;
        failure.bytes = bytes;
        return failure;
    }
    static Failure of_class(int error_class, const char* why) noexcept;
};

/// Returns words such as "writing 4096 bytes at 1024: No space left on device (errno 28)". `doing`
/// is "writing".
std::string describe(const Failure& failure, const std::string& doing);

}  // namespace heddle::io
