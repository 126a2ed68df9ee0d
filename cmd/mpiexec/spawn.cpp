// SPDX-License-Identifier: BSD-3-Clause
#include "spawn.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "binding.hpp"
#include "event_loop.hpp"
#include "say.hpp"

namespace heddle::mpiexec {

namespace {

rlimit descriptors_at_start;
bool sigpipe_ignored_at_start;

/// The code between fork and exec in the new process. It allocates nothing and takes no lock.
class Child {
public:
    Child(const RankStart& rank, int errors) : rank_(rank), errors_(errors) {}

    [[noreturn]] void become(char* const* arguments, char* const* environment, pid_t parent) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        // The parent died before prctl() took effect.
        if (::getppid() != parent) ::_exit(exit_failed);
        ::setpgid(0, 0);
        bind_here(rank_.threads);  // a binding that the kernel refuses is not worth a job
        connect_streams();
        keep_across_exec(rank_.pmi);
        keep_across_exec(rank_.node);
        keep_across_exec(rank_.pages);
        if (!rank_.program.directory.empty() && ::chdir(rank_.program.directory.c_str()) != 0)
            give_up(true);
        restore_settings();
        const char* file = rank_.program.file.c_str();
        ::execve(file, arguments, environment);
        if (errno == ENOEXEC && !is_elf(file)) run_by_shell(file, arguments, environment);
        give_up(false);
    }

private:
    void connect_streams() const {
        // Standard streams are open in the launcher, so no source is overwritten before it is
        // copied.
        ::dup2(rank_.input, STDIN_FILENO);
        ::dup2(rank_.output, STDOUT_FILENO);
        ::dup2(rank_.error, STDERR_FILENO);
    }

    static void keep_across_exec(int fd) { ::fcntl(fd, F_SETFD, 0); }

    static void restore_settings() {
        ::setrlimit(RLIMIT_NOFILE, &descriptors_at_start);
        if (!sigpipe_ignored_at_start) ::signal(SIGPIPE, SIG_DFL);
        ::sigprocmask(SIG_SETMASK, &Signals::mask_at_start(), nullptr);
    }

    static bool is_elf(const char* file) {
        std::array<char, 4> start{};
        const int fd = ::open(file, O_RDONLY | O_CLOEXEC);
        const bool read = fd >= 0 && ::read(fd, start.data(), start.size()) == 4;
        errno = ENOEXEC;
        return read && start == std::array<char, 4>{'\x7f', 'E', 'L', 'F'};
    }

    /// Runs a script without a first line "#!" by the shell, as shells do.
    static void run_by_shell(const char* file, char* const* arguments, char* const* environment) {
        std::vector<char*> command{const_cast<char*>("/bin/sh"), const_cast<char*>(file)};
        for (char* const* word = arguments + 1; *word != nullptr; ++word) command.push_back(*word);
        command.push_back(nullptr);
        ::execve("/bin/sh", command.data(), environment);
    }

    [[noreturn]] void give_up(bool in_directory) const {
        const StartError error{rank_.rank, in_directory, errno};
        // Smaller than PIPE_BUF, so it is written as a whole.
        (void)!::write(errors_, &error, sizeof error);
        ::_exit(exit_not_found);
    }

    const RankStart& rank_;
    int errors_;
};

}  // namespace

void Spawner::remember_settings() {
    ::getrlimit(RLIMIT_NOFILE, &descriptors_at_start);
    struct sigaction old{};
    ::sigaction(SIGPIPE, nullptr, &old);
    sigpipe_ignored_at_start = old.sa_handler == SIG_IGN;
}

Spawner::Spawner() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0)
        throw Failure(exit_failed, fmt::format("pipe: {}", error_text(errno)));
    errors_ = UniqueFd(ends[0]);
    errors_in_ = UniqueFd(ends[1]);
}

pid_t Spawner::start(RankStart& rank) {
    std::vector<char*> arguments;
    arguments.reserve(rank.program.command.size() + 1);
    for (const std::string& word : rank.program.command)
        arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    const std::vector<char*> environment = rank.environment.pointers();

    const pid_t parent = ::getpid();
    const pid_t pid = ::fork();
    if (pid == 0)
        Child(rank, errors_in_.get()).become(arguments.data(), environment.data(), parent);
    if (pid > 0) ::setpgid(pid, pid);  // also here, so that a signal sent now finds the group
    return pid;
}

bool Spawner::next_error(StartError& error) {
    const ssize_t size = ::read(errors_.get(), &error, sizeof error);
    if (size == 0) all_became_ = true;  // no process has the other end any more
    return size == static_cast<ssize_t>(sizeof error);
}

std::string explain(const StartError& error, const Program& program) {
    if (error.in_directory)
        return fmt::format("cannot start rank {}: directory '{}': {}", error.rank,
                           program.directory, error_text(error.error));
    const char* hint = error.error == ENOENT ? " (the interpreter it names does not exist)" : "";
    return fmt::format("cannot start rank {}: '{}': {}{}", error.rank, program.command.front(),
                       error_text(error.error), hint);
}

}  // namespace heddle::mpiexec
