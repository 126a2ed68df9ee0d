// SPDX-License-Identifier: BSD-3-Clause
#include "watcher.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "process_tree.hpp"
#include "say.hpp"

namespace heddle::mpiexec {

namespace {

/// All but the standard streams: an end of a pipe that is kept here would never be seen to be closed.
void close_descriptors() {
    if (::close_range(STDERR_FILENO + 1, ~0U, 0) == 0) return;
    const long most = ::sysconf(_SC_OPEN_MAX);  // the kernel is older than 5.9
    for (int fd = STDERR_FILENO + 1; fd < most; ++fd) ::close(fd);
}

}  // namespace

int watch(const std::function<int()>& run, const std::function<void()>& settle_in) {
    become_subreaper();
    const pid_t child = ::fork();
    if (child == 0) ::_exit(run());
    if (child < 0) {
        say(fmt::format("fork: {}", error_text(errno)));
        return exit_failed;
    }
    close_descriptors();
    settle_in();
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    return WIFEXITED(status) ? WEXITSTATUS(status) : end_without(child, WTERMSIG(status));
}

}  // namespace heddle::mpiexec
