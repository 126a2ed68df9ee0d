// SPDX-License-Identifier: BSD-3-Clause
#include "children.hpp"

#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "binding.hpp"
#include "children_info.hpp"
#include "crowding.hpp"
#include "event_loop.hpp"
#include "foreign.hpp"
#include "hand_over.hpp"
#include "hosts.hpp"
#include "input.hpp"
#include "keeper.hpp"
#include "parent_link.hpp"
#include "process_tree.hpp"
#include "resolve.hpp"
#include "say.hpp"
#include "signal_pipe.hpp"
#include "topology.hpp"
#include "watcher.hpp"

namespace heddle::mpiexec {

namespace {

/// The variables that tell which process of which job the parent is.
constexpr std::array<std::string_view, 7> launcher_families{
    "PMI_", "PMIX_", "MPI_LOCAL", "HYDI_", "SLURM_STEP", "OMPI_COMM_WORLD_", "OMPI_FILE_"};
constexpr std::array<std::string_view, 9> single{
    "SLURM_PROCID",   "SLURM_LOCALID",   "SLURM_NODEID",     "SLURM_TASK_PID",    "SLURM_GTIDS",
    "HEDDLE_NODE_FD", "HEDDLE_PRINT_FD", "HEDDLE_KEEPER_FD", "OMPI_UNIVERSE_SIZE"};

bool is_of_parent(std::string_view name) {
    for (const std::string_view family : launcher_families)
        if (name.starts_with(family)) return true;
    return std::find(single.begin(), single.end(), name) != single.end();
}

void forget_who_parent_is() {
    std::vector<std::string> names;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        const std::string_view name = text.substr(0, text.find('='));
        if (is_of_parent(name)) names.emplace_back(name);
    }
    for (const std::string& name : names) ::unsetenv(name.c_str());
}

void set_process_name(const char* name) { ::prctl(PR_SET_NAME, name); }

/// Leaves the parent's process group, so that its signals do not arrive here.
void leave_group_of_parent() {
    ::setpgid(0, 0);
    become_subreaper();
}

/// Returns true if an outer keeper ends what is left when this process is killed.
bool has_outer_keeper() { return std::getenv(launch::spawn_options_variable) != nullptr; }

/// Returns the errno for a failure of resolve_program().
int error_of(const Failure& failure) {
    return failure.code == exit_not_run ? EACCES : failure.code == exit_usage ? EINVAL : ENOENT;
}

/// Returns a job with all programs. If one is wrong, reports that to the parent and returns a job
/// without programs.
Job job_of(const launch::Description& description, ParentLink& parent) {
    Job job;
    if (const char* options = std::getenv(launch::spawn_options_variable))
        apply_spawn_options(options, job);
    bool refused = false;
    for (std::size_t i = 0; i < description.commands.size(); ++i) {
        const launch::Description::One& one = description.commands[i];
        Program& program = job.programs.emplace_back();
        program.ranks = one.processes;
        program.command = one.command;
        try {
            apply_info(one.info, job, program);
            if (!takes_other_machines(job)) resolve_program(program);
        } catch (const Failure& failure) {
            parent.not_started(static_cast<int>(i), error_of(failure), failure.what());
            refused = true;
        }
    }
    if (refused) job.programs.clear();
    job.input = InputTo::nobody;
    return job;
}

void warn(const Job& job, const launch::Description& description) {
    if (job.quiet) return;
    for (const std::string& key : description.without_effect)
        say(fmt::format("MPI_Comm_spawn: info key {} has no effect", key));
    for (const std::string& sentence : job.ignored) say("MPI_Comm_spawn: " + sentence);
}

/// Resolves the job on this machine. Returns the bindings of the children.
std::vector<std::vector<int>> resolve_here(Job& job) {
    bind_here(job.placement.cpus);  // if the kernel refuses, the parent's cores remain
    if (job.placement.bind == Bind::unset) job.placement.bind = Bind::none;
    // Reading the properties of many cores takes long, and without a binding only their number
    // counts.
    std::vector<Core> cores =
        job.placement.bind == Bind::none ? std::vector{Core{allowed_threads()}} : allowed_cores();
    if (job.placement.bind == Bind::l3cache || job.placement.map == Map::l3cache)
        find_caches(cores);
    if (job.universe_size == 0) job.universe_size = hardware_threads(cores);
    const int descriptors = 1 + PassedOn(job).pipes();
    if (!descriptors_suffice(job.size(), descriptors)) job.raw_output = true;
    check_limits(job.size(), 1 + PassedOn(job).pipes());
    const std::vector<int> threads = openmp_threads(job);
    std::vector<std::vector<int>> bindings =
        place(job.placement, cores, threads, {true, 0}).threads;
    job.crowded = crowded(threads, bindings, cores);
    job.spawn_options = spawn_options(job);
    return bindings;
}

/// Returns the job of a launcher that starts the children. The variable with the parent's port
/// travels in the environment. The port contains a secret, and other users can read a command line.
Job through_launcher(Job job, const std::string& parent) {
    ::setenv(launch::parent_variable, parent.c_str(), 1);
    job.universe_size = 0;  // counts only this machine
    job.placement.cpus.clear();
    Job launcher = job_of_launcher(job);
    launcher.environment.set.emplace_back(launch::parent_variable, parent);
    return launcher;
}

int keep_children(const Job& job, const std::vector<std::vector<int>>& bindings, UniqueFd signals,
                  ParentLink& parent) {
    Input input(job, job.size());
    Keeper keeper(job, bindings, input, std::move(signals), &parent);
    input.be_keeper();
    const int code = keeper.run();
    parent.ended(code, keeper.reason());
    return code;
}

int run(UniqueFd signals, ParentLink& parent) {
    const launch::Description description = parent.description();
    Job job = job_of(description, parent);
    warn(job, description);
    if (job.programs.empty()) {
        parent.ended(exit_not_run, "not all programs can be run");
        return exit_not_run;
    }
    const bool elsewhere = takes_other_machines(job);
    forget_who_parent_is();
    if (elsewhere)
        return keep_children(through_launcher(job, description.parent), {{}}, std::move(signals),
                             parent);
    job.environment.set.emplace_back(launch::parent_variable, description.parent);
    const std::vector<std::vector<int>> bindings = resolve_here(job);
    return keep_children(job, bindings, std::move(signals), parent);
}

int tell_not_started(ParentLink& parent, int code, const std::string& why) {
    parent.not_started(-1, EAGAIN, why);
    parent.ended(code, why);
    return code;
}

int run_as_keeper(ParentLink& parent) {
    try {
        return run(signals_to_keeper({SIGTSTP}), parent);
    } catch (const Failure& failure) {
        return tell_not_started(parent, failure.code, failure.what());
    } catch (const std::exception& error) {
        return tell_not_started(parent, exit_failed, error.what());
    }
}

}  // namespace

int run_children() {
    ParentLink parent;  // closes inherited descriptors
    leave_group_of_parent();
    if (has_outer_keeper()) {
        set_process_name(name_of_children);  // the outer keeper finds it by this name
        return run_as_keeper(parent);
    }
    set_process_name("heddle-watcher");  // set before there is a keeper, so that the two are not
                                         // confused
    const Signals blocked({SIGCHLD});    // watch() requires it
    return watch(
        [&] {
            ::prctl(PR_SET_PDEATHSIG, SIGTERM);
            set_process_name(name_of_children);
            become_subreaper();
            return run_as_keeper(parent);
        },
        [] {},
        [&](const std::string& why) {
            tell_not_started(parent, exit_failed,
                             why + " (limits on processes are 'ulimit -u' and the container's)");
        });
}

}  // namespace heddle::mpiexec
