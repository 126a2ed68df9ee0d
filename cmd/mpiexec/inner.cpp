// SPDX-License-Identifier: BSD-3-Clause
#include "inner.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "children_info.hpp"
#include "crowding.hpp"
#include "input.hpp"
#include "keeper.hpp"
#include "platform/printing.hpp"
#include "process_tree.hpp"
#include "say.hpp"
#include "settle.hpp"
#include "signal_pipe.hpp"
#include "surroundings.hpp"
#include "topology.hpp"

namespace heddle::mpiexec {

namespace {

constexpr int patience_ms = 5'000;

/// As the launcher has said it; 0 if it has not.
int rank_of_launcher() {
    for (const char* variable : {"PMI_RANK", "PMIX_RANK", "SLURM_PROCID"})
        if (const char* text = std::getenv(variable)) return std::atoi(text);
    return 0;
}

/// Hydra answers the exit code of whichever process it looks at last, often one that it has killed itself, unless
/// it is told to end the job.
void end_job_over_pmi(int code) {
    const char* descriptor = std::getenv("PMI_FD");
    if (descriptor == nullptr) return;
    platform::wait_until_read(STDERR_FILENO, 1'000);  // Hydra forwards what it has read until then
    const int pmi = std::atoi(descriptor);
    write_all(pmi, fmt::format("cmd=abort exitcode={}\n", code));
    pollfd what{pmi, POLLIN, 0};
    for (std::array<char, 512> bytes{};
         ::poll(&what, 1, patience_ms) > 0 && ::read(pmi, bytes.data(), bytes.size()) > 0;) {}
}

/// PRRTE's daemon, which has started this process, for this job only. Empty: another launcher has, or it has gone.
UniqueFd daemon_of_prrte() {
    const pid_t parent = ::getppid();
    UniqueFd daemon(static_cast<int>(::syscall(SYS_pidfd_open, parent, 0)));
    std::ifstream file(fmt::format("/proc/{}/comm", parent));
    std::string name;
    std::getline(file, name);
    if (name != "prterun" && name != "prted") return {};
    return daemon;
}

/// PRRTE waits for a host that is cut off until TCP gives up, which takes minutes. A process is left behind that kills the
/// daemon if it is late to end. (This one cannot do it: the daemon hears of the end of the job by the end of this process.)
void see_daemon_end(const UniqueFd& daemon) {
    if (daemon.get() < 0 || ::fork() != 0) return;
    ::setsid();
    const int kept = ::dup2(daemon.get(), STDIN_FILENO);
    close_from(kept + 1);  // also of what this process writes nobody waits for the end
    pollfd gone{kept, POLLIN, 0};
    if (::poll(&gone, 1, patience_ms) == 0)
        ::syscall(SYS_pidfd_send_signal, kept, SIGKILL, nullptr, 0);
    ::_exit(0);
}

/// How many ranks of the job the launcher has started on this machine; 1 if it does not say.
int ranks_here() {
    for (const char* variable : {"MPI_LOCALNRANKS", "SLURM_TASKS_PER_NODE"})
        if (const char* text = std::getenv(variable)) return std::max(std::atoi(text), 1);
    return 1;
}

/// As far as this rank sees it, which the launcher has bound or not: other ranks here are taken to be like it.
bool is_crowded(const Job& job) {
    const int allowed = hardware_threads(allowed_cores());
    const int said = openmp_threads(job).front();
    const int own = said > 0 ? said : allowed;
    return own > allowed || own > online_threads() / ranks_here();
}

/// Launchers give other ranks than the one that is meant something to read from that never ends.
void settle_input(Job& job) {
    if (job.input == InputTo::one_rank && job.input_rank != job.first_rank)
        job.input = InputTo::nobody;
    else if (job.input == InputTo::all_ranks)
        job.input = InputTo::one_rank;
    job.input_rank = 0;
}

}  // namespace

int run_inner(Job& job) {
    const UniqueFd daemon = daemon_of_prrte();
    job.first_rank = rank_of_launcher();
    settle_input(job);
    settle(job, 1);
    job.crowded = is_crowded(job);
    job.spawn_options = spawn_options(job);
    become_subreaper();
    Input input(job, 1);
    UniqueFd signals = signals_to_keeper();
    const std::vector<std::vector<int>> anywhere(1);
    Keeper keeper(job, anywhere, input, std::move(signals));
    input.be_keeper();
    const int code = keeper.run();
    if (code != 0 || was_told_to_end()) see_daemon_end(daemon);
    if (code > 128 && !was_told_to_end()) end_job_over_pmi(code);
    return code;
}

}  // namespace heddle::mpiexec
