// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <climits>
#include <cmath>
#include <cstdlib>
#include <sstream>

#include "hosts.hpp"
#include "nearest.hpp"
#include "options.hpp"
#include "say.hpp"
#include "small_file.hpp"

namespace heddle::mpiexec {

namespace {

[[noreturn]] void wrong(const Parsing& at, std::string_view reason) {
    throw Failure(exit_usage, fmt::format("{}: {}", at.option, reason));
}

std::string lower(std::string_view text) {
    std::string result(text);
    std::transform(result.begin(), result.end(), result.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return result;
}

std::vector<std::string> split(std::string_view text, char separator) {
    std::vector<std::string> parts;
    while (true) {
        const std::size_t end = text.find(separator);
        parts.emplace_back(text.substr(0, end));
        if (end == std::string_view::npos) return parts;
        text.remove_prefix(end + 1);
    }
}

void check_variable(const Parsing& at, std::string_view name) {
    const auto cannot_stand_there = [](unsigned char c) {
        return c == '=' || std::isspace(c) != 0 || std::iscntrl(c) != 0;
    };
    if (name.empty() || std::any_of(name.begin(), name.end(), cannot_stand_there))
        wrong(at, fmt::format("'{}' is not the name of an environment variable", printable(name)));
}

void set_ranks(const Parsing& at) {
    at.program.ranks = whole_number(at.option, at.values[0], 1, INT_MAX);
}

void set_directory(const Parsing& at) { at.program.directory = at.values[0]; }

void set_for(EnvironmentRule& rule, const Parsing& at) {
    check_variable(at, at.values[0]);
    rule.set.emplace_back(at.values[0], at.values[1]);
}

void inherit_for(EnvironmentRule& rule, const Parsing& at) {
    for (std::string& name : split(at.values[0], ',')) {
        check_variable(at, name);
        rule.inherit.push_back(std::move(name));
    }
}

void set_all(const Parsing& at) { set_for(at.job.environment, at); }
void set_own(const Parsing& at) { set_for(at.program.environment, at); }
void list_all(const Parsing& at) { inherit_for(at.job.environment, at); }
void list_own(const Parsing& at) { inherit_for(at.program.environment, at); }
void inherit_everything(const Parsing& at) { at.job.environment.inherit_all = true; }
void inherit_nothing(const Parsing& at) { at.job.environment.inherit_all = false; }
void own_everything(const Parsing& at) { at.program.environment.inherit_all = true; }
void own_nothing(const Parsing& at) { at.program.environment.inherit_all = false; }

void export_variable(const Parsing& at) {
    const std::string& text = at.values[0];
    const std::size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    check_variable(at, name);
    if (equals != std::string::npos) {
        at.program.environment.set.emplace_back(name, text.substr(equals + 1));
        return;
    }
    if (std::getenv(name.c_str()) == nullptr)
        wrong(at,
              fmt::format("the environment has no variable {} (give it as {}=VALUE)", name, name));
    at.program.environment.inherit.push_back(name);
}

void set_bind(const Parsing& at) {
    const std::string what = lower(at.values[0]);
    Bind& bind = at.job.placement.bind;
    if (what == "none")
        bind = Bind::none;
    else if (what == "share")
        bind = Bind::share;
    else if (what == "core")
        bind = Bind::core;
    else if (what == "hwthread")
        bind = Bind::hwthread;
    else if (what == "socket" || what == "package")
        bind = Bind::socket;
    else if (what == "numa")
        bind = Bind::numa;
    else
        wrong(at,
              fmt::format("'{}' is not one of none, share, core, hwthread, socket, numa",
                          at.values[0]));
}

void set_map_qualifier(const Parsing& at, const std::string& text) {
    if (text == "oversubscribe" || text == "nooversubscribe" || text == "hwtcpus") return;
    if (!text.starts_with("pe=")) wrong(at, fmt::format("'{}' is not understood; use PE=N", text));
    at.job.placement.cores_per_rank = whole_number(at.option, text.substr(3), 1, INT_MAX);
}

void set_map(const Parsing& at) {
    const std::vector<std::string> parts = split(lower(at.values[0]), ':');
    const std::string& what = parts[0];
    Map& map = at.job.placement.map;
    if (what == "socket" || what == "package")
        map = Map::socket;
    else if (what == "numa")
        map = Map::numa;
    else if (what == "core" || what == "slot" || what == "hwthread")
        map = Map::core;
    else if (what == "node")
        map = Map::node;
    else
        wrong(at,
              fmt::format("'{}' is not one of core, slot, hwthread, socket, numa, node", parts[0]));
    for (std::size_t i = 1; i < parts.size(); ++i) set_map_qualifier(at, parts[i]);
}

void report_bindings(const Parsing& at) { at.job.placement.report = true; }

void set_input(const Parsing& at) {
    const std::string& to = at.values[0];
    if (to == "all")
        at.job.input = InputTo::all_ranks;
    else if (to == "none")
        at.job.input = InputTo::nobody;
    else {
        at.job.input = InputTo::one_rank;
        at.job.input_rank = whole_number(at.option, to, 0, INT_MAX);
    }
}

void tag_output(const Parsing& at) { at.job.tag_output = true; }
void raw_output(const Parsing& at) { at.job.raw_output = true; }

void set_timeout(const Parsing& at) { at.job.timeout_seconds = seconds(at.option, at.values[0]); }

void set_universe(const Parsing& at) {
    at.job.universe_size = whole_number(at.option, at.values[0], 1, INT_MAX);
}

void print_counters(const Parsing& at) {
    at.job.environment.set.emplace_back("HEDDLE_COUNTERS", "1");
}

void print_advice(const Parsing& at) { at.job.environment.set.emplace_back("HEDDLE_ADVICE", "on"); }

void set_initial_errhandler(const Parsing& at) {
    const std::string& name = at.values[0];
    if (name != "mpi_errors_are_fatal" && name != "mpi_errors_abort" && name != "mpi_errors_return")
        wrong(at,
              fmt::format("'{}' is not one of mpi_errors_are_fatal, mpi_errors_abort, "
                          "mpi_errors_return",
                          name));
    at.job.environment.set.emplace_back("HEDDLE_INITIAL_ERRHANDLER", name);
}

void be_quiet(const Parsing& at) { at.job.quiet = true; }
void be_verbose(const Parsing& at) { at.job.verbose = true; }

void accept(const Parsing&) {}

void add_hosts(const Parsing& at) {
    for (const std::string& entry : split(at.values[0], ',')) add_host(at.job.hosts, entry);
}

void add_hosts_of_file(const Parsing& at) {
    std::istringstream file(read_small_file(at.option, at.values[0]));
    if (read_hostfile(at.job.hosts, file) == 0)
        wrong(at, fmt::format("{} names no host", at.values[0]));
}

void set_ranks_per_host(const Parsing& at) {
    at.job.ranks_per_host = whole_number(at.option, at.values[0], 1, INT_MAX);
}

void set_via(const Parsing& at) { at.job.via = at.values[0]; }

void refuse_hosts(const Parsing& at) {
    wrong(at,
          "not understood; --host and --hostfile say where ranks run, --via says which launcher "
          "starts them there");
}

void be_inner(const Parsing& at) { at.job.children = Children::rank; }

void refuse_mca(const Parsing& at) {
    wrong(at,
          "parameters of Open MPI mean nothing here; Heddle is set by HEDDLE_* variables, see "
          "'heddle info'");
}

/// with_config_file() has looked for it where it may stand.
void read_already(const Parsing& at) {
    wrong(at, "it has to come before the first program, and once");
}

void show_later(const Parsing&) {}  // --help and --version: parse_command_line() looks at them

using enum Section;

constexpr std::array table{
    Option{programs, "n np c", "N",
           "number of ranks; default: one for each core that may be used, "
           "or 1 for each of several programs",
           set_ranks},
    Option{programs, "configfile", "FILE",
           "take the rest from FILE: a line for each program, '#' begins a comment", read_already},
    Option{programs, "wdir wd", "DIR", "directory in which the program runs", set_directory},

    Option{environment, "x", "VAR[=VALUE]", "set VAR for this program", export_variable},
    Option{environment, "env", "VAR VALUE", "set VAR for this program", set_own},
    Option{environment, "genv", "VAR VALUE", "set VAR for all programs", set_all},
    Option{environment, "genvlist", "A,B", "hand these down, also under -genvnone", list_all},
    Option{environment, "genvall", "", "hand the whole environment down (default)",
           inherit_everything},
    Option{environment, "genvnone", "", "hand nothing down but what is named", inherit_nothing},
    Option{hidden, "envlist", "A,B", "", list_own},
    Option{hidden, "envall", "", "", own_everything},
    Option{hidden, "envnone", "", "", own_nothing},

    Option{placement, "bind-to", "WHAT",
           "bind each rank to a core (several where OMP_NUM_THREADS says so), hwthread, socket or "
           "numa "
           "node, a share of all cores, or none; default: share, where the cores are the job's own "
           "(an "
           "allocation, a cpuset) or idle and ranks do not outnumber them, else none",
           set_bind},
    Option{placement, "map-by", "WHAT[:PE=N]",
           "where consecutive ranks go: core, slot (next to each "
           "other, default), socket, numa (to these in turn), node; PE=N: N cores for each rank",
           set_map},
    Option{placement, "host hosts H", "A[:RANKS],B",
           "run ranks on these machines, by srun, prterun or mpiexec.hydra", add_hosts},
    Option{placement, "hostfile machinefile f default-hostfile", "FILE",
           "the same, a machine in each line: 'HOST', 'HOST:RANKS' or 'HOST slots=RANKS'",
           add_hosts_of_file},
    Option{placement, "ppn perhost npernode N", "N", "ranks on each machine", set_ranks_per_host},
    Option{
        placement, "via", "LAUNCHER",
        "which launcher starts ranks on other machines: srun, prterun or mpiexec.hydra, also as a "
        "path; default: the first that is there, srun in an allocation of Slurm",
        set_via},
    Option{placement, "report-bindings", "", "say on which cores each rank runs", report_bindings},
    Option{hidden, "display-map display-bindings", "", "", report_bindings},

    Option{streams, "l prepend-rank tag-output", "", "start each line of output with '[rank] '",
           tag_output},
    Option{
        streams, "raw-output", "",
        "let ranks write to files and pipes themselves, when their buffers are full, and mix lines",
        raw_output},
    Option{streams, "stdin s", "RANK|all|none", "who gets standard input; default: rank 0",
           set_input},

    Option{other, "timeout", "SECONDS",
           "end the job then, say where each rank is blocked, exit with "
           "124; default: MPIEXEC_TIMEOUT, or none",
           set_timeout},
    Option{other, "counters", "",
           "each rank says what it has counted when it calls MPI_Finalize; "
           "'heddle info --counters' lists what there is",
           print_counters},
    Option{
        other, "advice", "",
        "each rank says what has slowed it down, and what would help, when it calls MPI_Finalize",
        print_advice},
    Option{other, "initial-errhandler", "NAME",
           "what errors do until the program sets error handlers: mpi_errors_are_fatal (default), "
           "mpi_errors_abort, mpi_errors_return",
           set_initial_errhandler},
    Option{other, "q quiet", "", "do not explain why a job was ended", be_quiet},
    Option{other, "v verbose", "", "say what is started", be_verbose},
    Option{other, "h help", "", "this text", show_later},
    Option{other, "V version", "", "the version of Heddle", show_later},
    Option{hidden, "?", "", "", show_later},
    Option{hidden, "usize", "N", "", set_universe},

    Option{hidden, "allow-run-as-root", "", "", accept},
    Option{hidden, "oversubscribe", "", "", accept},
    Option{hidden, "nooversubscribe", "", "", accept},
    Option{hidden, "use-hwthread-cpus", "", "", accept},
    Option{hidden, "inner", "", "", be_inner},

    Option{hidden, "rankfile", "FILE", "", refuse_hosts},
    Option{hidden, "launcher bootstrap rmk iface", "NAME", "", refuse_hosts},
    Option{hidden, "mca gmca omca prtemca pmixmca", "KEY VALUE", "", refuse_mca},
};

bool is_name(std::string_view names, std::string_view name) {
    for (const std::string& one : split(names, ' '))
        if (one == name) return true;
    return false;
}

}  // namespace

std::span<const Option> option_table() { return table; }

const Option* find_option(std::string_view name) {
    for (const Option& option : table)
        if (is_name(option.names, name)) return &option;
    return nullptr;
}

std::string nearest_option(std::string_view name) {
    std::string best;
    std::size_t best_distance = most_distance(name) + 1;
    for (const Option& option : table) {
        if (option.apply == refuse_hosts || option.apply == refuse_mca) continue;
        for (const std::string& candidate : split(option.names, ' ')) {
            const std::size_t distance = edit_distance(lower(name), lower(candidate));
            if (distance >= best_distance) continue;
            best_distance = distance;
            best = candidate;
        }
    }
    if (best.empty()) return best;
    return fmt::format("{}{}", best.size() > 1 ? "--" : "-", best);
}

double seconds(std::string_view option, std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || !(value > 0) || value > 1e8)
        throw Failure(exit_usage,
                      fmt::format("{}: '{}' is not a number of seconds above 0", option, text));
    return value;
}

int whole_number(std::string_view option, std::string_view text, int low, int high) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc::result_out_of_range)
        throw Failure(exit_usage, fmt::format("{}: {} is too large", option, text));
    if (error != std::errc{} || end != text.data() + text.size())
        throw Failure(exit_usage, fmt::format("{}: '{}' is not a whole number", option, text));
    if (value < low || value > high)
        throw Failure(exit_usage,
                      fmt::format("{}: {} is too small, the least is {}", option, value, low));
    return value;
}

}  // namespace heddle::mpiexec
