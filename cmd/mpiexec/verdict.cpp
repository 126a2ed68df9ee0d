// SPDX-License-Identifier: BSD-3-Clause
#include "verdict.hpp"

#include <sys/wait.h>

#include <csignal>

#include "say.hpp"

namespace heddle::mpiexec {

namespace {

std::string phase(const RankEnd& end) {
    return end.closed ? " after its last session" : end.finalized ? " after MPI_Finalize" : "";
}

Verdict judge_signal(const RankEnd& end) {
    const int signal = WTERMSIG(end.status);
    const char* hint = signal == SIGKILL ? "; the kernel does so when memory runs out"
        : WCOREDUMP(end.status)          ? "; it left a core dump"
                                         : "";
    return {
        128 + signal,
        fmt::format("{} was ended by signal {}, {}{}{}", describe(end.rank, end.pid, end.program),
                    signal, signal_name(signal), phase(end), hint),
        !end.finalized};
}

Verdict judge_exit_code(const RankEnd& end, int code) {
    const char* hint = "";
    if (code == exit_not_found && !end.initialized)
        hint =
            "; that usually means that a shared library is missing (ldd tells which, and "
            "LD_LIBRARY_PATH says where to look) or that a command in a script was not found";
    return {code,
            fmt::format("{} ended with exit code {}{}{}", describe(end.rank, end.pid, end.program),
                        code, phase(end), hint),
            !end.finalized};
}

}  // namespace

std::string describe(int rank, pid_t pid, const std::string& program) {
    if (rank == of_launcher) return fmt::format("{} (pid {})", program, pid);
    return fmt::format("rank {} (pid {}, {})", rank, pid, program);
}

Verdict judge_abort(const RankEnd& end) {
    // An aborted job never counts as success, whatever its code.
    const int code = (end.abort_code & 0xff) != 0 ? end.abort_code & 0xff : exit_failed;
    const std::string who = describe(end.rank, end.pid, end.program);
    return {code,
            end.abort_reason.empty()
                ? fmt::format("{} called MPI_Abort with code {}", who, end.abort_code)
                : fmt::format("{} ended the job with code {}: {}", who, end.abort_code,
                              end.abort_reason),
            true};
}

std::optional<Verdict> judge(const RankEnd& end) {
    if (end.aborted) return judge_abort(end);
    if (WIFSIGNALED(end.status)) return judge_signal(end);
    if (WEXITSTATUS(end.status) != 0) return judge_exit_code(end, WEXITSTATUS(end.status));
    if (!end.initialized || end.finalized) return {};
    return Verdict{exit_failed,
                   fmt::format("{} ended without calling MPI_Finalize",
                               describe(end.rank, end.pid, end.program)),
                   true};
}

}  // namespace heddle::mpiexec
