// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <climits>
#include <cstdlib>

#include "foreign.hpp"
#include "options.hpp"
#include "placement_options.hpp"
#include "say.hpp"
#include "text.hpp"

namespace heddle::mpiexec {

namespace {

/// Accepts an option that changes nothing here.
void accept(const Parsing&) {}

/// Leaves out an option that would have an effect elsewhere. Its row says why it has none here.
void leave_out(const Parsing& at) {
    std::string what(at.option);
    for (const std::string& value : at.values) what += fmt::format(" {}", printable(value));
    ignore(at.job, what, at.help);
}

void report(const Parsing& at) { at.job.placement.report = true; }
void launch_nothing(const Parsing& at) { at.job.dry = at.job.placement.report = true; }

// ---- Placement ----

void one_rank_per_host(const Parsing& at) { at.job.ranks_per_host = 1; }

void ranks_per_host(const Parsing& at) {
    at.job.ranks_per_host = whole_number(at.option, at.values[0], 1, INT_MAX);
}

void cores_per_rank(const Parsing& at) {
    at.job.placement.cores_per_rank = whole_number(at.option, at.values[0], 1, INT_MAX);
}

void ranks_per_socket(const Parsing& at) {
    whole_number(at.option, at.values[0], 1, INT_MAX);
    at.job.placement.map = Map::socket;
}

void map_by_node(const Parsing& at) { at.job.placement.map = Map::node; }
void map_by_core(const Parsing& at) { at.job.placement.map = Map::core; }
void map_by_socket(const Parsing& at) { at.job.placement.map = Map::socket; }
void bind_to_core(const Parsing& at) { at.job.placement.bind = Bind::core; }
void bind_to_socket(const Parsing& at) { at.job.placement.bind = Bind::socket; }
void bind_to_none(const Parsing& at) { at.job.placement.bind = Bind::none; }

/// Accepts the two orders that mpiexec has anyway: it numbers ranks as it places them.
void rank_by(const Parsing& at) {
    const std::string what = lower(at.values[0]);
    if (what != "slot" && what != "fill") leave_out(at);
}

// ---- Output ----

/// Parses DIR, or DIR:MODIFIER,..., and uses Open MPI's layout: DIR/1/rank.N/stdout.
void output_directory(const Parsing& at) {
    const std::vector<std::string> parts = split(at.values[0], ':');
    if (parts[0].empty()) throw Failure(exit_usage, fmt::format("{}: no name is given", at.option));
    at.job.output_file = parts[0] + "/1/rank.%r/stdout";
    at.job.error_file = parts[0] + "/1/rank.%r/stderr";
}

/// Parses "tag", "timestamp", "merge", "dir=D", "file=F" and other words between commas.
void output_words(const Parsing& at) {
    for (const std::string& word : split(at.values[0], ',')) {
        const std::string name = lower(word.substr(0, word.find('=')));
        const std::string value = name.size() < word.size() ? word.substr(name.size() + 1) : "";
        if (name.starts_with("tag") || name == "rank")
            at.job.tag_output = true;
        else if (name == "timestamp")
            at.job.time_output = true;
        else if (name.starts_with("merge"))
            at.job.merge_output = true;
        else if (name == "dir" || name == "directory")
            output_directory({at.job, at.program, at.option, std::array{value}, at.help});
        else if (name == "file" || name == "filename")
            at.job.output_file = at.job.error_file = split(value, ':')[0] + ".%r";
        else
            ignore(at.job, fmt::format("{} {}", at.option, printable(word)), at.help);
    }
}

void tag_by_pattern(const Parsing& at) {
    at.job.tag_output = true;
    leave_out(at);
}

// ---- Launchers and variables ----

/// Sets a variable that Hydra reads if it starts the ranks.
void tell_hydra(const char* variable, const Parsing& at) {
    ::setenv(variable, at.values[0].c_str(), 1);
}
void set_launcher(const Parsing& at) { tell_hydra("HYDRA_LAUNCHER", at); }
void set_launcher_file(const Parsing& at) { tell_hydra("HYDRA_LAUNCHER_EXEC", at); }
void set_interface(const Parsing& at) { tell_hydra("HYDRA_IFACE", at); }

void search_first(const Parsing& at) {
    const char* path = std::getenv("PATH");
    const std::string all = at.values[0] + (path == nullptr ? "" : std::string(":") + path);
    ::setenv("PATH", all.c_str(), 1);
}

void set_parameter(const Parsing& at) {
    hear_parameter(at.job, at.option, at.values[0], at.values[1]);
}

constexpr std::string_view debugger =
    "no debugger is started; mpiexec -n 2 xterm -e gdb --args ./a.out starts one for each rank";
constexpr std::string_view placed = "--map-by, --bind-to and --cpu-set place ranks";
constexpr std::string_view network = "HEDDLE_FABRIC and HEDDLE_INTERFACE say which network";
constexpr std::string_view traced =
    "mpiexec --trace, --check, --counters and --advice tell what ranks did";
constexpr std::string_view shared = "all machines have to see the same files";
constexpr std::string_view failing = "a rank that fails ends the job";

constexpr Option row(std::string_view names, std::string_view values, void (*apply)(const Parsing&),
                     std::string_view why = "") {
    return {Section::hidden, names, values, why, apply};
}

constexpr std::array foreign_table{
    // MPI's and Hydra's
    row("soft", "TRIPLET", leave_out, "-n says how many ranks there are"),
    row("arch file", "NAME", leave_out),
    row("path", "DIR", search_first),
    row("launcher bootstrap", "NAME", set_launcher),
    row("launcher-exec bootstrap-exec", "FILE", set_launcher_file),
    row("iface", "NAME", set_interface),
    row("rmk localhost nameserver topolib demux branch-count bootstrap-exec-args", "NAME", accept),
    row("disable-hostname-propagation order-nodes enable-x disable-x pmi-port skip-launch-node", "",
        accept),
    row("disable-auto-cleanup", "", leave_out, failing),
    row("print-rank-map", "", report),
    row("print-all-exitcodes profile", "", leave_out),
    row("prepend-pattern", "PATTERN", tag_by_pattern, "lines begin with [rank]"),
    row("membind", "WHAT", leave_out, "memory lies where it is first touched"),
    row("gpus-per-proc gpu-subdevs-per-proc", "N", leave_out),
    row("restart", "", leave_out, failing),
    row("ckpoint ckpointlib ckpoint-interval ckpoint-prefix ckpoint-num", "VALUE", leave_out),
    // Intel MPI's
    row("grr", "N", ranks_per_host),
    row("rr", "", one_rank_per_host),
    row("genvexcl", "A,B", leave_out, "-genvnone and -genvlist say what is handed down"),
    row("binding", "WHAT", leave_out, placed),
    row("dapl DAPL ib IB rdma RDMA psm PSM psm2 PSM2 mx MX tmi TMI ofi OFI tcp", "", leave_out,
        network),
    row("lp64 localroot", "", accept),
    row("hostos", "NAME", accept),
    row("hosts-group gtool gtoolfile tmpdir umask localuser", "VALUE", leave_out),
    row("trace-imbalance trace-collectives trace-pt2pt check_mpi check-mpi aps mps", "", leave_out,
        traced),
    row("tune noconf ilp64 silent-abort ordered-output nolocal static_mpi", "", leave_out),
    row("gdb tv ddt", "", leave_out, debugger),
    row("idb stop-on-exec stop-in-init stop-in-app", "", leave_out, debugger),
    row("gdba tva", "PID", leave_out, debugger),
    // Open MPI's and PRRTE's
    row("mca gmca omca prtemca pmixmca pmca", "KEY VALUE", set_parameter),
    row("am tune-file amca", "FILE", leave_out, "'heddle info --knobs' lists what can be set"),
    row("rank-by", "WHAT", rank_by, "ranks are numbered as --map-by places them"),
    row("pernode", "", one_rank_per_host),
    row("npersocket", "N", ranks_per_socket),
    row("bynode", "", map_by_node),
    row("bycore byslot", "", map_by_core),
    row("bysocket", "", map_by_socket),
    row("bind-to-core", "", bind_to_core),
    row("bind-to-socket", "", bind_to_socket),
    row("bind-to-none", "", bind_to_none),
    row("cpus-per-proc cpus-per-rank cpus-per-task", "N", cores_per_rank),
    row("rankfile rf", "FILE", leave_out, placed),
    row("output-filename", "DIR", output_directory),
    row("output", "WORDS", output_words),
    row("display-map display-bindings display-devel-map display-diffable-map display-topo", "",
        report),
    row("display", "WHAT", report),
    row("do-not-launch", "", launch_nothing),
    row("display-allocation display-devel-allocation debug-devel wait-for-server use-regexp "
        "fwd-mpirun-port "
        "fwd-environment",
        "", accept),
    row("keepalive spawn-timeout", "N", accept),
    row("add-host add-hostfile", "HOSTS", leave_out, "a job has the hosts with which it begins"),
    row("do-not-resolve leave-session-attached debug-daemons "
        "report-state-on-timeout",
        "", accept),
    row("get-stack-traces allow-run-as-root oversubscribe nooversubscribe use-hwthread-cpus", "",
        accept),
    row("debug-daemons-file novm no-ready-msg show-progress parsable parseable tree-spawn hetero",
        "", accept),
    row("personality prefix launch-agent max-vm-size stream-buffering forward-signals", "VALUE",
        accept),
    row("noprefix", "", accept),
    row("preload-binary set-cwd-to-session-dir", "", leave_out, shared),
    row("preload-files preload-files-dest-dir", "FILE", leave_out, shared),
    row("xterm", "RANKS", leave_out, debugger),
    row("debug", "", leave_out, debugger),
    row("debugger", "NAME", leave_out, debugger),
    row("enable-recovery continuous", "", leave_out, failing),
    row("disable-recovery", "", accept),
    row("max-restarts with-ft", "VALUE", leave_out, failing),
    row("xml index-argv-by-rank report-child-jobs-separately daemonize", "", leave_out),
    row("xml-file pset hnp", "VALUE", leave_out),
    row("report-pid report-uri report-events ompi-server server-wait-time dvm dvm-uri", "VALUE",
        leave_out),
    row("runtime-options rtos memory-alloc-kinds", "WORDS", leave_out),
};

}  // namespace

std::span<const Option> foreign_options() { return foreign_table; }

}  // namespace heddle::mpiexec
