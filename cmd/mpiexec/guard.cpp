// SPDX-License-Identifier: BSD-3-Clause
#include "guard.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "event_loop.hpp"
#include "input.hpp"
#include "keeper.hpp"
#include "process_tree.hpp"
#include "say.hpp"
#include "watcher.hpp"

namespace heddle::mpiexec {

namespace {

class Guard {
public:
    Guard(pid_t sentry, UniqueFd to_keeper, Input& input, Signals& signals,
          std::vector<pid_t> spared)
        : sentry_(sentry),
          to_keeper_(std::move(to_keeper)),
          input_(input),
          signals_(signals),
          spared_(std::move(spared)) {
        loop_.watch(signals_.fd(), POLLIN, [this] {
            while (const int signal = signals_.next()) hear(signal);
        });
        input_.be_guard(loop_);
    }

    int run() {
        hear(SIGCHLD);  // it may have come before its handler was set
        while (!done_) loop_.wait(-1);
        return exit_code_;
    }

private:
    void hear(int signal) {
        switch (signal) {
            case SIGCHLD: return look_at_sentry();
            case SIGTSTP: return stop_here();
            case SIGTTIN:
            case SIGTTOU: return;  // the terminal stops a reader or writer in the background
            case SIGCONT: input_.resume(); break;
            default: break;
        }
        tell_keeper(signal);
        if (signal == SIGINT || signal == SIGTERM) count_request();
    }

    void tell_keeper(int signal) {
        const auto byte = static_cast<unsigned char>(signal);
        (void)!::write(to_keeper_.get(), &byte,
                       1);  // it fails if the keeper is dead, and then SIGCHLD comes
    }

    /// Counts requests to end. Repeated requests end the job even if the keeper hangs, for example
    /// in a write to a terminal.
    void count_request() {
        constexpr int enough = 3;
        const long long now = now_ms();
        if (now - last_request_ < 200) return;  // one keypress may arrive twice
        last_request_ = now;
        if (++requests_ >= enough) ::kill(sentry_, SIGKILL);
    }

    /// Stops by the default action and not by SIGSTOP. The kernel then knows when no process could
    /// continue this one, and does not stop it.
    void stop_here() {
        tell_keeper(SIGTSTP);
        sigset_t stop;
        sigemptyset(&stop);
        sigaddset(&stop, SIGTSTP);
        ::raise(SIGTSTP);
        ::sigprocmask(SIG_UNBLOCK, &stop, nullptr);
        ::sigprocmask(SIG_BLOCK, &stop, nullptr);
        tell_keeper(SIGCONT);
    }

    void look_at_sentry() {
        int status = 0;
        if (::waitpid(sentry_, &status, WNOHANG) != sentry_) return;
        done_ = true;
        exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status)
                                       : end_without(sentry_, WTERMSIG(status), spared_);
    }

    pid_t sentry_;
    UniqueFd to_keeper_;
    Input& input_;
    Signals& signals_;
    std::vector<pid_t> spared_;  ///< children from before this process became mpiexec by exec
    EventLoop loop_;
    int exit_code_ = exit_failed;
    int requests_ = 0;
    long long last_request_ = -1000;
    bool done_ = false;
};

std::vector<pid_t> children_from_before() {
    siginfo_t info;
    const bool none =
        ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 && errno == ECHILD;
    return none ? std::vector<pid_t>{} : descendants(false);
}

char** arguments_of_process = nullptr;

/// Gives this process a name of its own everywhere. A user who kills all processes called mpiexec
/// leaves sentry, watcher and keeper, which clean up.
template <std::size_t size>
void rename_process(const char (&name)[size]) {
    ::prctl(PR_SET_NAME, name);
    char* start = arguments_of_process[0];
    char* end = start;
    for (char** word = arguments_of_process; *word == end; ++word) end += std::strlen(*word) + 1;
    std::fill(start, end, '\0');
    std::copy_n(name, std::min<std::size_t>(size - 1, static_cast<std::size_t>(end - start - 1)),
                start);
}

int keep(const Job& job, const std::vector<std::vector<int>>& bindings, Input& input,
         UniqueFd guard) {
    ::setpgid(0, 0);
    become_subreaper();
    rename_process("heddle-keeper");
    input.be_keeper();
    try {
        Keeper keeper(job, bindings, input, std::move(guard));
        return keeper.run();
    } catch (const std::exception& error) {
        say(error.what());
        kill_descendants();
        return exit_failed;
    }
}

/// Runs the keeper under its watcher, in mpiexec's session, where the ranks are to be.
int keep_watched(const Job& job, const std::vector<std::vector<int>>& bindings, Input& input,
                 UniqueFd guard) {
    ::setpgid(0, 0);  // the terminal's signals go to the guard
    return watch([&] { return keep(job, bindings, input, std::move(guard)); },
                 [] { rename_process("heddle-watcher"); });
}

/// Moves into a new session. Batch systems that kill all of mpiexec's session leave this process.
void become_sentry() {
    ::setsid();
    rename_process("heddle-sentry");
}

}  // namespace

void remember_arguments(char** arguments) { arguments_of_process = arguments; }

int run_job(const Job& job, const std::vector<std::vector<int>>& bindings) {
    Signals signals({SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT,
                     SIGTTIN, SIGTTOU, SIGWINCH});
    const std::vector<pid_t> spared = children_from_before();
    become_subreaper();
    Input input(job, job.size());
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0)
        throw Failure(exit_failed, fmt::format("pipe: {}", error_text(errno)));
    UniqueFd from_guard(ends[0]), to_keeper(ends[1]);

    const pid_t pid = ::fork();
    if (pid < 0) throw Failure(exit_failed, fmt::format("fork: {}", error_text(errno)));
    if (pid == 0) {
        to_keeper.reset();  // if it stayed open, the keeper would never see the end of the file
        ::_exit(watch([&] { return keep_watched(job, bindings, input, std::move(from_guard)); },
                      become_sentry));
    }
    from_guard.reset();
    return Guard(pid, std::move(to_keeper), input, signals, spared).run();
}

}  // namespace heddle::mpiexec
