// SPDX-License-Identifier: BSD-3-Clause
#include "platform/shared_memory.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

namespace heddle::platform {
namespace {

constexpr int size_is_settled = F_SEAL_SHRINK | F_SEAL_GROW;

/// Makes an object in which nothing can be executed. Some systems insist on that, and old kernels
/// do not know it.
int create(const char* name) noexcept {
    const unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
    const int descriptor = memfd_create(name, flags | MFD_NOEXEC_SEAL);
    return descriptor < 0 && errno == EINVAL ? memfd_create(name, flags) : descriptor;
}

/// Enlarges the file without the signal that the kernel sends if a file becomes too large.
bool enlarge(int descriptor, std::size_t bytes) noexcept {
    rlimit limit{};
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < bytes) {
        errno = EFBIG;
        return false;
    }
    return ftruncate(descriptor, static_cast<off_t>(bytes)) == 0;
}

/// Returns 0 if it is no plain file, or empty.
std::size_t bytes_of_plain_file(int descriptor) noexcept {
    struct stat status{};
    const bool plain = fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
    return plain ? static_cast<std::size_t>(status.st_size) : 0;
}

std::string limit_behind(int error) {
    struct Limit {
        int error;
        int resource;
        rlim_t unit;
        const char* text;
    };
    constexpr Limit limits[] = {{EMFILE, RLIMIT_NOFILE, 1, " descriptors, ulimit -n"},
                                {EFBIG, RLIMIT_FSIZE, 1024, " KiB, ulimit -f"}};
    for (const Limit& one : limits) {
        rlimit limit{};
        if (one.error == error && getrlimit(one.resource, &limit) == 0 &&
            limit.rlim_cur != RLIM_INFINITY)
            return " (at most " + std::to_string(limit.rlim_cur / one.unit) + one.text + ")";
    }
    return {};
}

/// Opens the file behind a descriptor that only identifies it.
int reopen(int place, int flags) noexcept {
    return open(("/proc/self/fd/" + std::to_string(place)).c_str(), flags | O_CLOEXEC);
}

int open_verified(int place, std::size_t least_bytes) noexcept {
    const int reading = bytes_of_plain_file(place) >= least_bytes ? reopen(place, O_RDONLY) : -1;
    if (reading < 0) {
        errno = EINVAL;
        return -1;
    }
    const bool right = shared_memory_bytes(reading) >= least_bytes;
    close(reading);
    if (right) return reopen(place, O_RDWR);
    errno = EINVAL;
    return -1;
}

}  // namespace

int create_shared_memory(const char* name, std::size_t bytes, const char*& step) noexcept {
    step = "memfd_create";
    const int descriptor = create(name);
    if (descriptor < 0) return -1;
    step = "ftruncate";
    const bool large = enlarge(descriptor, bytes);
    if (large) step = "fcntl(F_ADD_SEALS)";
    if (large && fcntl(descriptor, F_ADD_SEALS, size_is_settled | F_SEAL_SEAL) == 0)
        return descriptor;
    const int error = errno;
    close(descriptor);
    errno = error;
    return -1;
}

std::string why_refused(const char* step, int error) {
    return std::string(step) + ": " + std::strerror(error) + limit_behind(error);
}

std::size_t shared_memory_bytes(int descriptor) noexcept {
    const int seals = fcntl(descriptor, F_GET_SEALS);  // -1 if it is no shared memory
    return seals >= 0 && (seals & size_is_settled) == size_is_settled
        ? bytes_of_plain_file(descriptor)
        : 0;
}

int open_shared_memory(const std::string& path, std::size_t least_bytes) noexcept {
    const int place = open(path.c_str(), O_PATH | O_CLOEXEC);
    if (place < 0) return -1;
    const int descriptor = open_verified(place, least_bytes);
    const int error = errno;
    close(place);
    errno = error;
    return descriptor;
}

void close_on_exec(int descriptor) noexcept { fcntl(descriptor, F_SETFD, FD_CLOEXEC); }

bool is_socket(int descriptor) noexcept {
    struct stat status{};
    return fstat(descriptor, &status) == 0 && S_ISSOCK(status.st_mode);
}

}  // namespace heddle::platform
