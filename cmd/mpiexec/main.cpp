// SPDX-License-Identifier: BSD-3-Clause
/// mpiexec: starts the ranks of an MPI job, those on other machines by another launcher.
///
///     options  → job      parses the command line              config_file.hpp, job.hpp
///     resolve             finds files, checks limits           resolve.hpp, variables.hpp
///     topology → binding  chooses the cores of the ranks       surroundings.hpp
///     guard               the process that the user sees       guard.hpp
///     └ sentry            waits, and ends leftovers            watcher.hpp
///       └ watcher         the same, in mpiexec's session       watcher.hpp
///         └ keeper        starts, serves, watches, ends ranks  keeper.hpp
///           ├ spawn, pmi_server, output, node_memory, verdict, report
///           └ ranks
///
/// On other machines:
///     hosts → hand_over   chooses and runs another launcher    hosts.hpp, hand_over.hpp
///     guard … keeper      as above, with that launcher in the place of the ranks
///     inner               a keeper for each rank there         inner.hpp
///
/// For the children of a rank (MPI_Comm_spawn):
///     children            a keeper for them                    children.hpp, children_info.hpp
///     └ parent_link       reports to the rank                  parent_link.hpp

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>
#include <vector>

#include "binding.hpp"
#include "children.hpp"
#include "children_info.hpp"
#include "crowding.hpp"
#include "deadlock_watch.hpp"
#include "event_loop.hpp"
#include "foreign.hpp"
#include "guard.hpp"
#include "hand_over.hpp"
#include "hosts.hpp"
#include "inner.hpp"
#include "options.hpp"
#include "output.hpp"
#include "resolve.hpp"
#include "say.hpp"
#include "spawn.hpp"
#include "surroundings.hpp"
#include "topology.hpp"
#include "trace.hpp"
#include "variables.hpp"

namespace {

using namespace heddle::mpiexec;

/// Opens descriptors 0, 1 and 2 if they are closed. Later code may rely on them.
void open_standard_streams() {
    int fd = 0;
    do {
        fd = ::open("/dev/null", O_RDWR);
    } while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd > STDERR_FILENO) ::close(fd);
}

void prepare_process() {
    Signals::remember_mask();
    Spawner::remember_settings();
    ::signal(SIGPIPE, SIG_IGN);
    ::signal(SIGCHLD, SIG_DFL);  // if it is ignored, no child can be waited for
    open_standard_streams();
}

int descriptors_per_rank(const Job& job) {
    return 1 + PassedOn(job).pipes() + (job.input == InputTo::all_ranks ? 2 : 0);
}

/// Warns about options and variables that have no effect.
void warn_of_ignored(const Job& job) {
    if (job.quiet) return;
    for (const std::string& sentence : job.ignored) say(sentence);
}

/// Warns about requests that cannot be met.
void warn(const Job& job, const std::vector<Core>& cores) {
    if (job.quiet) return;
    for (const std::string& sentence : unknown_variables(job)) say(sentence);
    const std::string impossible = impossible_placement(job.placement, cores, job.size());
    if (!impossible.empty()) say(impossible);
}

/// Reads Hydra's time limit if the command line has no --timeout. A value that is no positive
/// number sets none.
void hear_timeout(Job& job) {
    constexpr const char* variable = "MPIEXEC_TIMEOUT";
    const char* text = std::getenv(variable);
    if (job.timeout_seconds > 0 || text == nullptr || *text == '\0') return;
    const std::string_view value = text;
    if (value != "0" && value != "-1") job.timeout_seconds = seconds(variable, value);
}

int run(const std::vector<std::string>& arguments) {
    if (arguments == std::vector<std::string>{"--children"}) return run_children();
    Job job = parse_command_line(arguments);
    if (job.programs.empty()) return 0;
    if (job.children == Children::rank) return run_inner(job);
    hear_timeout(job);
    hear_variables(job);
    (void)DeadlockWatch::wanted();  // called for its error message
    warn_of_ignored(job);
    if (takes_other_machines(job)) {
        prepare_trace(job);
        return hand_over(job);
    }
    if (!bind_here(job.placement.cpus))
        throw Failure(exit_usage,
                      fmt::format("--cpu-set {}: none of these may be used",
                                  format_cpu_list(job.placement.cpus)));
    std::vector<Core> cores = allowed_cores();
    if (job.placement.bind == Bind::l3cache || job.placement.map == Map::l3cache)
        find_caches(cores);
    if (job.ranks_per_host > 0 && job.programs.size() == 1 && !job.programs.front().ranks)
        job.programs.front().ranks = job.ranks_per_host;
    resolve(job, static_cast<int>(cores.size()));
    if (job.universe_size == 0) job.universe_size = static_cast<int>(cores.size());
    job.spawn_options = spawn_options(job);
    // A job that starts is worth more than whole lines.
    if (!descriptors_suffice(job.size(), descriptors_per_rank(job))) job.raw_output = true;
    check_limits(job.size(), descriptors_per_rank(job));
    warn(job, cores);
    const std::vector<int> threads = openmp_threads(job);
    const Bindings bindings = place(job.placement, cores, threads, look_around(cores));
    job.crowded = crowded(threads, bindings.threads, cores);
    if (job.placement.report) report_bindings(bindings);
    if (job.dry) return 0;
    prepare_trace(job);
    return run_job(job, bindings.threads);
}

}  // namespace

int main(int argc, char** argv) {
    prepare_process();
    remember_arguments(argv);
    try {
        return run({argv + 1, argv + argc});
    } catch (const Failure& failure) {
        say(failure.what());
        return failure.code;
    } catch (const std::exception& error) {
        say(error.what());
        return exit_failed;
    }
}
