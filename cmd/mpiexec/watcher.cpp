// SPDX-License-Identifier: BSD-3-Clause
#include "watcher.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "process_tree.hpp"
#include "say.hpp"
#include "unique_fd.hpp"

namespace heddle::mpiexec {

int watch(const std::function<int()>& run, const std::function<void()>& prepare,
          const std::function<void(const std::string& why)>& refused) {
    become_subreaper();
    const pid_t child = ::fork();
    if (child == 0) ::_exit(run());
    if (child < 0) {
        refused(fmt::format("fork: {}", error_text(errno)));
        return exit_failed;
    }
    close_from(STDERR_FILENO + 1);
    prepare();
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    return WIFEXITED(status) ? WEXITSTATUS(status) : end_without(child, WTERMSIG(status));
}

}  // namespace heddle::mpiexec
