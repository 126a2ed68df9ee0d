// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A file descriptor with one owner, closed with it. Movable, not copyable.

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <utility>

namespace heddle::mpiexec {

class UniqueFd {
public:
    UniqueFd() noexcept = default;
    explicit UniqueFd(int fd) noexcept : fd_(fd) {}
    UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    UniqueFd& operator=(UniqueFd&& other) noexcept {
        if (this != &other) {
            reset();
            fd_ = std::exchange(other.fd_, -1);
        }
        return *this;
    }
    ~UniqueFd() { reset(); }

    void reset() noexcept {
        if (fd_ >= 0) ::close(fd_);
        fd_ = -1;
    }
    [[nodiscard]] int get() const noexcept { return fd_; }
    explicit operator bool() const noexcept { return fd_ >= 0; }

private:
    int fd_ = -1;
};

/// The same descriptor, closed on exec, under a number that shell scripts do not use themselves.
inline UniqueFd out_of_the_way(UniqueFd fd) noexcept {
    UniqueFd moved(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 20));
    return moved ? std::move(moved) : std::move(fd);
}

/// Closes `first` and all above: an end of a pipe that a process keeps would never be seen to be closed.
inline void close_from(int first) {
    // By number: C libraries before glibc 2.34 have no function.
    if (::syscall(SYS_close_range, static_cast<unsigned>(first), ~0U, 0U) == 0) return;
    const long most = ::sysconf(_SC_OPEN_MAX);  // the kernel is older than 5.9
    for (int fd = first; fd < most; ++fd) ::close(fd);
}

}  // namespace heddle::mpiexec
