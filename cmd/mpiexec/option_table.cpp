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
#include "placement_options.hpp"
#include "say.hpp"
#include "small_file.hpp"
#include "text.hpp"
#include "topology.hpp"

namespace heddle::mpiexec {

namespace {

[[noreturn]] void wrong(const Parsing& at, std::string_view reason) {
    throw Failure(exit_usage, fmt::format("{}: {}", at.option, reason));
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

/// Sets a variable from "NAME VALUE", or from the one word "NAME=VALUE".
void set_for(EnvironmentRule& rule, const Parsing& at) {
    const std::size_t equals = at.values[0].find('=');
    const std::string name = at.values[0].substr(0, equals);
    check_variable(at, name);
    rule.set.emplace_back(
        name, equals == std::string::npos ? at.values[1] : at.values[0].substr(equals + 1));
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

void set_bind(const Parsing& at) { set_binding(at.job, at.option, at.values[0]); }
void set_map(const Parsing& at) { set_mapping(at.job, at.option, at.values[0]); }

void set_cpus(const Parsing& at) {
    if (parse_cpu_list(at.values[0]).empty())
        wrong(at, fmt::format("'{}' is no list of hardware threads, as 0-3,8", at.values[0]));
    at.job.placement.cpus = parse_cpu_list(at.values[0]);
}

void ask_for_bindings(const Parsing& at) { at.job.placement.report = true; }

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
void time_output(const Parsing& at) { at.job.time_output = true; }
void merge_output(const Parsing& at) { at.job.merge_output = true; }
void set_output_file(const Parsing& at) { at.job.output_file = at.values[0]; }
void set_error_file(const Parsing& at) { at.job.error_file = at.values[0]; }
void raw_output(const Parsing& at) { at.job.raw_output = true; }

void set_timeout(const Parsing& at) { at.job.timeout_seconds = seconds(at.option, at.values[0]); }

void set_universe(const Parsing& at) {
    at.job.universe_size = whole_number(at.option, at.values[0], 1, INT_MAX);
}

void print_counters(const Parsing& at) {
    at.job.environment.set.emplace_back("HEDDLE_COUNTERS", "1");
}

void print_advice(const Parsing& at) {
    at.job.environment.set.emplace_back("HEDDLE_ADVICE", "on");
    at.job.timed_advice = true;
}

void set_trace(const Parsing& at) {
    if (at.values.empty()) {
        at.job.ignored.push_back(fmt::format(
            "ignored: {} (--trace FILE writes a timeline, docs/timelines.md)", at.option));
        return;
    }
    if (at.values[0].empty()) wrong(at, "a name of a file is needed");
    at.job.trace_file = at.values[0];
}

void set_trace_folder(const Parsing& at) { at.job.trace_folder = at.values[0]; }

void check_calls(const Parsing& at) { at.job.check = true; }
void write_json(const Parsing& at) { at.job.json = true; }

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

void be_inner(const Parsing& at) { at.job.children = Children::rank; }

/// Refuses the option. with_config_file() has taken it wherever it is allowed.
void read_already(const Parsing& at) {
    wrong(at, "it has to come before the first program, and once");
}

// parse_command_line() handles --help and --version.
void show_later(const Parsing&) {}

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
    Option{placement, "hostfile machinefile machine f default-hostfile", "FILE",
           "the same, a machine in each line: 'HOST', 'HOST:RANKS' or 'HOST slots=RANKS'",
           add_hosts_of_file},
    Option{placement, "ppn perhost npernode N", "N", "ranks on each machine", set_ranks_per_host},
    Option{
        placement, "via", "LAUNCHER",
        "which launcher starts ranks on other machines: srun, prterun or mpiexec.hydra, also as a "
        "path; default: the first that is there, srun in an allocation of Slurm",
        set_via},
    Option{placement, "cpu-set cpu-list", "LIST", "use these hardware threads only, as 0-3,8",
           set_cpus},
    Option{placement, "report-bindings", "", "say on which cores each rank runs", ask_for_bindings},

    Option{streams, "l prepend-rank tag-output", "", "start each line of output with '[rank] '",
           tag_output},
    Option{streams, "timestamp-output", "", "start each line of output with the time", time_output},
    Option{streams, "merge-stderr-to-stdout", "",
           "write what ranks write to standard error to standard output", merge_output},
    Option{streams, "outfile-pattern", "FILE",
           "write standard output to files: %r in FILE is the rank, %h the machine",
           set_output_file},
    Option{streams, "errfile-pattern", "FILE", "the same for standard error", set_error_file},
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
    Option{other, "advice", "",
           "say at the end for which ranks others have waited, where, for how long and what would "
           "help; "
           "each rank says what has slowed it down when it calls MPI_Finalize",
           print_advice},
    Option{other, "trace", "FILE",
           "write what each thread did in MPI, when, and for whom it waited, to FILE, which "
           "ui.perfetto.dev and 'heddle trace' show",
           set_trace},
    Option{other, "check", "",
           "look at each call, and say what is wrong in the program: collectives that differ, "
           "types of "
           "messages, buffers in use, requests, leaks, threads, windows",
           check_calls},
    Option{other, "json", "", "what --check finds is an object of JSON on a line", write_json},
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

    Option{hidden, "inner", "", "", be_inner},
    Option{hidden, "trace-folder", "FOLDER", "", set_trace_folder},
};

}  // namespace

std::span<const Option> option_table() { return table; }

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
