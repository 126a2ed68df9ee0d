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
#include "resolve.hpp"
#include "say.hpp"
#include "signal_pipe.hpp"
#include "surroundings.hpp"
#include "topology.hpp"

namespace heddle::mpiexec {

namespace {

constexpr int patience_ms = 5'000;

/// Returns the rank that the launcher has given, or 0 if it has given none.
int rank_of_launcher() {
    for (const char* variable : {"PMI_RANK", "PMIX_RANK", "SLURM_PROCID"})
        if (const char* text = std::getenv(variable)) return std::atoi(text);
    return 0;
}

/// Ends the job over PMI. Hydra otherwise returns the exit code of the process that it reaps last,
/// often one that it has killed.
void end_job_over_pmi(int code) {
    const char* descriptor = std::getenv("PMI_FD");
    if (descriptor == nullptr) return;
    platform::wait_until_read(STDERR_FILENO, 1'000);  // Hydra forwards only what it has read until
                                                      // then
    const int pmi = std::atoi(descriptor);
    write_all(pmi, fmt::format("cmd=abort exitcode={}\n", code));
    pollfd what{pmi, POLLIN, 0};
    for (std::array<char, 512> bytes{};
         ::poll(&what, 1, patience_ms) > 0 && ::read(pmi, bytes.data(), bytes.size()) > 0;) {}
}

/// Returns a descriptor of PRRTE's daemon if it has started this process, for this job only.
/// Returns an empty one if another launcher has, or if the daemon has gone.
UniqueFd daemon_of_prrte() {
    const pid_t parent = ::getppid();
    UniqueFd daemon(static_cast<int>(::syscall(SYS_pidfd_open, parent, 0)));
    std::ifstream file(fmt::format("/proc/{}/comm", parent));
    std::string name;
    std::getline(file, name);
    if (name != "prterun" && name != "prted") return {};
    return daemon;
}

/// Leaves a process behind that kills PRRTE's daemon if it does not end in time. Otherwise PRRTE
/// waits for a host that is cut off until TCP gives up, which takes minutes. This process cannot do
/// it: its end tells the daemon that the job has ended.
void see_daemon_end(const UniqueFd& daemon) {
    if (daemon.get() < 0 || ::fork() != 0) return;
    ::setsid();
    const int kept = ::dup2(daemon.get(), STDIN_FILENO);
    close_from(kept + 1);  // also the output, whose end others wait for
    pollfd gone{kept, POLLIN, 0};
    if (::poll(&gone, 1, patience_ms) == 0)
        ::syscall(SYS_pidfd_send_signal, kept, SIGKILL, nullptr, 0);
    ::_exit(0);
}

/// Returns how many ranks the launcher has started on this machine, or 1 if it does not say.
int ranks_here() {
    for (const char* variable : {"MPI_LOCALNRANKS", "SLURM_TASKS_PER_NODE"})
        if (const char* text = std::getenv(variable)) return std::max(std::atoi(text), 1);
    return 1;
}

/// Returns whether threads outnumber cores, as far as this rank sees. The launcher may have bound
/// it. Other ranks here are taken to be like it.
bool is_crowded(const Job& job) {
    const int allowed = hardware_threads(allowed_cores());
    const int said = openmp_threads(job).front();
    const int own = said > 0 ? said : allowed;
    return own > allowed || own > online_threads() / ranks_here();
}

/// Sets whether this rank reads. Launchers give the ranks that are not to read an input that never
/// ends.
void resolve_input(Job& job) {
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
    resolve_input(job);
    resolve(job, 1);
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
