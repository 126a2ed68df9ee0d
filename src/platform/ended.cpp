// SPDX-License-Identifier: BSD-3-Clause
#include "platform/ended.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <unistd.h>

namespace heddle::platform {

bool has_lost_its_memory(int pid) noexcept {
    if (kill(pid, 0) != 0 && errno == ESRCH) return true;
    char path[64], pages = '\0';
    std::snprintf(path, sizeof path, "/proc/%d/statm", pid);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    // The first number is that of the process's pages.
    const bool lost = read(file, &pages, 1) == 1 && pages == '0';
    close(file);
    return lost;
}

}  // namespace heddle::platform
