// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A file descriptor with one owner, which closes it. Movable, not copyable.

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

/// Returns the same descriptor, closed on exec, under a number that shell scripts do not use
/// themselves.
inline UniqueFd out_of_the_way(UniqueFd fd) noexcept {
    UniqueFd moved(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 20));
    return moved ? std::move(moved) : std::move(fd);
}

/// Closes `first` and all above. If a process keeps an end of a pipe, the other end never sees it
/// closed.
inline void close_from(int first) {
    // A direct system call, since C libraries before glibc 2.34 have no function.
    if (::syscall(SYS_close_range, static_cast<unsigned>(first), ~0U, 0U) == 0) return;
    const long most = ::sysconf(_SC_OPEN_MAX);  // for a kernel older than 5.9
    for (int fd = first; fd < most; ++fd) ::close(fd);
}

}  // namespace heddle::mpiexec
