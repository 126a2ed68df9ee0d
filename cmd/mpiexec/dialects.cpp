// SPDX-License-Identifier: BSD-3-Clause
#include "dialects.hpp"

#include <unistd.h>

#include <initializer_list>
#include <set>

#include "say.hpp"

namespace heddle::mpiexec {

namespace {

using Words = std::vector<std::string>;

void add_words(Words& words, std::initializer_list<std::string> more) {
    words.insert(words.end(), more.begin(), more.end());
}

[[noreturn]] void refuse_without(std::string_view launcher, std::string_view what) {
    throw Failure(exit_usage,
                  fmt::format("{}, which starts the ranks on other machines, has "
                              "nothing like {}; --via chooses another launcher",
                              launcher, what));
}

std::string joined(const Words& words) { return fmt::format("{}", fmt::join(words, ",")); }

Words names_of(const std::vector<Host>& hosts) {
    Words names;
    for (const Host& host : hosts) names.push_back(host.name);
    return names;
}

/// Returns the hosts in the form "a:2,b:2".
std::string names_with_ranks(const std::vector<Host>& hosts) {
    Words entries;
    for (const Host& host : hosts) entries.push_back(fmt::format("{}:{}", host.name, host.ranks));
    return joined(entries);
}

/// Returns the number of ranks per host if it is equal on all hosts, else 0.
int ranks_each(const Job& job) {
    if (job.hosts.empty()) return job.ranks_per_host;
    for (const Host& host : job.hosts)
        if (host.ranks != job.hosts.front().ranks) return 0;
    return job.hosts.front().ranks;
}

std::string with_count(std::string word, int count) {
    return count > 0 ? fmt::format("{}:{}", word, count) : word;
}

// ---- Hydra ----

void hydra_placement(Words& words, const Placement& placement) {
    constexpr std::string_view hydra = "mpiexec.hydra";
    if (placement.report) refuse_without(hydra, "--report-bindings");
    switch (placement.bind) {
        case Bind::unset:
        case Bind::share:
            if (placement.cores_per_rank > 0)
                add_words(words, {"-bind-to", with_count("core", placement.cores_per_rank)});
            break;
        case Bind::none: add_words(words, {"-bind-to", "none"}); break;
        case Bind::core:
            add_words(words, {"-bind-to", with_count("core", placement.cores_per_rank)});
            break;
        case Bind::hwthread: add_words(words, {"-bind-to", "hwthread"}); break;
        case Bind::socket: add_words(words, {"-bind-to", "socket"}); break;
        case Bind::numa: add_words(words, {"-bind-to", "numa"}); break;
        case Bind::l3cache: add_words(words, {"-bind-to", "l3cache"}); break;
    }
    if (placement.map == Map::socket) add_words(words, {"-map-by", "socket"});
    if (placement.map == Map::l3cache) add_words(words, {"-map-by", "l3cache"});
    if (placement.map == Map::numa) add_words(words, {"-map-by", "numa"});
}

Words hydra_begin(const Job& job, const std::string& file) {
    Words words{file};
    const bool in_turn = job.placement.map == Map::node;
    if (!job.hosts.empty())
        add_words(words,
                  {"-hosts", in_turn ? joined(names_of(job.hosts)) : names_with_ranks(job.hosts)});
    if (in_turn)
        add_words(words, {"-ppn", "1"});
    else if (job.hosts.empty() && job.ranks_per_host > 0)
        add_words(words, {"-ppn", std::to_string(job.ranks_per_host)});
    if (job.input == InputTo::all_ranks || job.input_rank != 0)
        refuse_without("mpiexec.hydra", "-stdin for other ranks than rank 0");
    if (job.universe_size > 0) add_words(words, {"-usize", std::to_string(job.universe_size)});
    hydra_placement(words, job.placement);
    return words;
}

Words hydra_program(const Job&, const Program& program) {
    return {"-n", std::to_string(*program.ranks)};
}

// ---- PRRTE ----

/// Returns true for variables of the shell that has started mpiexec, and of other launchers. Remote
/// ranks must not get them.
bool is_of_this_process(std::string_view name) {
    for (const std::string_view prefix :
         {"PMI_", "PMIX_", "PRTE_", "OMPI_", "HYDRA_", "BASH_FUNC_"})
        if (name.starts_with(prefix)) return true;
    for (const std::string_view one : {"HOSTNAME", "PWD", "OLDPWD", "SHLVL", "_", "HEDDLE_NODE_FD",
                                       "HEDDLE_KEEPER_FD", "HEDDLE_PRINT_FD"})
        if (name == one) return true;
    return false;
}

std::set<std::string> own_variables() {
    std::set<std::string> names;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        const std::string_view name = text.substr(0, text.find('='));
        if (!is_of_this_process(name)) names.emplace(name);
    }
    return names;
}

std::string prterun_map(const Job& job) {
    std::string map = "slot";
    if (job.placement.map == Map::node) map = "node";
    if (job.placement.map == Map::socket) map = "package";
    if (job.placement.map == Map::numa) map = "numa";
    if (job.placement.map == Map::l3cache) map = "l3cache";
    if (job.hosts.empty() && job.ranks_per_host > 0)
        map = fmt::format("ppr:{}:node", job.ranks_per_host);
    if (job.placement.cores_per_rank > 0)
        map += fmt::format(":PE={}", job.placement.cores_per_rank);
    return map + ":OVERSUBSCRIBE";
}

/// Returns PRRTE's binding. By default it is none: a binding by PRRTE would put all threads of a
/// rank on one core.
std::string prterun_bind(const Placement& placement) {
    switch (placement.bind) {
        case Bind::core: return "core";
        case Bind::hwthread: return "hwthread";
        case Bind::socket: return "package";
        case Bind::numa: return "numa";
        case Bind::l3cache: return "l3cache";
        case Bind::unset:
        case Bind::share: return placement.cores_per_rank > 0 ? "core" : "none";
        case Bind::none: break;
    }
    return "none";
}

/// Returns the beginning of prterun's command. It names all variables, since prterun hands no
/// others down.
Words prterun_begin(const Job& job, const std::string& file) {
    Words words{file};
    if (!job.hosts.empty()) add_words(words, {"--host", names_with_ranks(job.hosts)});
    if (::geteuid() == 0) words.emplace_back("--allow-run-as-root");
    add_words(words, {"--map-by", prterun_map(job), "--bind-to", prterun_bind(job.placement)});
    if (job.placement.report) add_words(words, {"--display", "bindings"});
    add_words(words, {"--stdin", input_name(job)});
    if (job.universe_size > 0) refuse_without("prterun", "-usize");
    for (const std::string& name : own_variables()) add_words(words, {"-x", name});
    return words;
}

Words prterun_program(const Job&, const Program& program) {
    return {"-n", std::to_string(*program.ranks)};
}

// ---- Slurm ----

void srun_placement(Words& words, const Placement& placement) {
    std::string bind;
    switch (placement.bind) {
        case Bind::unset:
        case Bind::share: break;
        case Bind::none: bind = "none"; break;
        case Bind::core: bind = "cores"; break;
        case Bind::hwthread: bind = "threads"; break;
        case Bind::socket: bind = "sockets"; break;
        case Bind::numa: bind = "ldoms"; break;
        case Bind::l3cache: refuse_without("srun", "--bind-to l3cache");
    }
    if (placement.report) bind = bind.empty() ? "verbose" : "verbose," + bind;
    if (!bind.empty()) words.push_back("--cpu-bind=" + bind);
    if (placement.cores_per_rank > 0)
        words.push_back(fmt::format("--cpus-per-task={}", placement.cores_per_rank));
    if (placement.map == Map::node) words.emplace_back("--distribution=cyclic");
    if (placement.map == Map::socket) words.emplace_back("--distribution=block:cyclic");
    if (placement.map == Map::numa) refuse_without("srun", "--map-by numa");
    if (placement.map == Map::l3cache) refuse_without("srun", "--map-by l3cache");
}

/// Returns the beginning of srun's command. A site sets the ranks' protocol by SLURM_MPI_TYPE.
/// Every Slurm has pmi2.
Words srun_begin(const Job& job, const std::string& file) {
    Words words{file, "--kill-on-bad-exit=1", "--input=" + input_name(job)};
    if (std::getenv("SLURM_MPI_TYPE") == nullptr) words.emplace_back("--mpi=pmi2");
    if (!job.hosts.empty()) {
        words.push_back("--nodelist=" + joined(names_of(job.hosts)));
        words.push_back(fmt::format("--nodes={}", job.hosts.size()));
        if (ranks_each(job) == 0)
            refuse_without("srun", "hosts that take different numbers of ranks");
    }
    if (ranks_each(job) > 0) words.push_back(fmt::format("--ntasks-per-node={}", ranks_each(job)));
    if (job.programs.size() > 1) refuse_without("srun", "several programs in one job");
    if (job.universe_size > 0) refuse_without("srun", "-usize");
    srun_placement(words, job.placement);
    return words;
}

Words srun_program(const Job&, const Program& program) {
    return {fmt::format("--ntasks={}", *program.ranks)};
}

}  // namespace

const std::array<Dialect, 3> dialects{{
    {"srun", srun_begin, srun_program},
    {"mpiexec.hydra", hydra_begin, hydra_program},
    {"prterun", prterun_begin, prterun_program},
}};

}  // namespace heddle::mpiexec
