// SPDX-License-Identifier: BSD-3-Clause
#include "io/failure.hpp"

#include <cerrno>
#include <cstdio>
#include <system_error>

namespace heddle::io {

int class_of_errno(int error) noexcept {
    switch (error) {
        case 0: return MPI_SUCCESS;
        case ENOENT: return MPI_ERR_NO_SUCH_FILE;
        case ENAMETOOLONG:
        case ENOTDIR:
        case EISDIR:
        case ELOOP:
        case EINVAL:
        case ESPIPE: return MPI_ERR_BAD_FILE;
        case EACCES:
        case EPERM: return MPI_ERR_ACCESS;
        case EEXIST: return MPI_ERR_FILE_EXISTS;
        case ENOSPC: return MPI_ERR_NO_SPACE;
        case EDQUOT: return MPI_ERR_QUOTA;
        case EROFS: return MPI_ERR_READ_ONLY;
        case ETXTBSY:
        case EBUSY: return MPI_ERR_FILE_IN_USE;
        case ENOMEM: return MPI_ERR_NO_MEM;
        default: return MPI_ERR_IO;
    }
}

std::string words_of(int error) {
    return std::system_category().message(error) + " (errno " + std::to_string(error) + ")";
}

Failure Failure::of_class(int error_class, const char* why) noexcept {
    Failure failure;
    failure.error_class = error_class;
    std::snprintf(failure.why, sizeof failure.why, "%s", why);
    return failure;
}

std::string describe(const Failure& failure, const std::string& doing) {
    std::string text = doing;
    if (failure.bytes != 0) text += " " + std::to_string(failure.bytes) + " bytes";
    if (failure.at >= 0) text += " at byte " + std::to_string(failure.at);
    return text + ": " +
        (failure.system_error != 0 ? words_of(failure.system_error) : std::string(failure.why));
}

}  // namespace heddle::io
