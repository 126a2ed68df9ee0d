// SPDX-License-Identifier: BSD-3-Clause
/// The command line of `heddle`. This is the only file that includes CLI11, which costs as much to
/// compile as all the subcommands together.

#include <CLI/CLI.hpp>

#include <iostream>

#include "subcommands.hpp"

namespace heddle::cmd {
namespace {

void add_info(CLI::App& application, InfoOptions& options) {
    CLI::App* const command = application.add_subcommand(
        "info", "Version, library, how much of MPI is supported; knobs and counters");
    command->add_flag("--unsupported", options.unsupported,
                      "List the functions that raise MPI_ERR_UNSUPPORTED_OPERATION, one in a line");
    command->add_flag("--collectives", options.collectives,
                      "List which algorithm a collective call takes, by size and ranks, and why");
    command->add_flag("--copies", options.copies,
                      "List how payload is copied, by kind of processor, and which kind this is");
    command->add_flag("--knobs", options.knobs,
                      "List the HEDDLE_* variables: their values, and who set them");
    command->add_flag("--counters", options.counters, "List what the library counts");
    // For the build and the tests of the documentation.
    command->add_flag("--markdown", options.markdown)->group("");
    command->add_flag("--manual", options.manual)->group("");
    command->callback([&options] { info(options); });
}

void add_doctor(CLI::App& application, DoctorOptions& options) {
    CLI::App* const command = application.add_subcommand(
        "doctor", "What works on this machine, what does not, and what to do about it");
    command->add_option("programs", options.programs, "Programs: which MPI would they load?");
    command->callback([&options] { doctor(options); });
}

void add_replay(CLI::App& application, ReplayOptions& options) {
    CLI::App* const command = application.add_subcommand(
        "replay", "What recorded ranks would cost under each matching engine (docs/RECORDINGS.md)");
    command->add_option("files", options.files, "Recordings, one for each rank")->required();
    command->add_flag(
        "--before-damage", options.before_damage,
        "Replay what precedes the damage, as of a program that did not come to its end");
    command->callback([&options] { replay_files(options); });
}

void add_stencil(CLI::App& application, StencilOptions& options) {
    CLI::App* const command = application.add_subcommand(
        "stencil",
        "Messages and threads of a halo exchange in which threads communicate (docs/STENCILS.md)");
    command->add_option("--points", options.points, "5 or 9 in two dimensions, 7 or 27 in three")
        ->required();
    command
        ->add_option(
            "--decomposition", options.decomposition,
            "Subdomains of a process, XxY or XxYxZ, with a thread each; or naive: each thread\n"
            "communicates with all its neighbours")
        ->required();
    command->add_option("--threads", options.threads, "Threads of a naive decomposition");
    command->callback([&options] { stencil_exchange(options); });
}

void add_scale(CLI::App& application, ScaleOptions& options) {
    CLI::App* const command = application.add_subcommand(
        "scale",
        "What collectives of many ranks would take by each algorithm, and which one is chosen "
        "(docs/scale.md)");
    command->add_option("--nodes", options.nodes, "Nodes (default: 128)")
        ->check(CLI::Range(1, 65536));
    command->add_option("--ranks-per-node", options.ranks_per_node, "Ranks of each (default: 32)")
        ->check(CLI::Range(1, 4096));
    command->add_flag("--in-turn", options.in_turn,
                      "Consecutive ranks are on consecutive nodes, not on the same");
    command->add_option("--operations", options.operations, "barrier,allreduce,... (default: all)")
        ->delimiter(',');
    command
        ->add_option("--bytes", options.bytes,
                     "Of the buffer, or of a block where each rank has one (default: "
                     "8,1KiB,64KiB,1MiB)")
        ->delimiter(',')
        ->transform(CLI::AsSizeValue(false));
    command->add_option("--between", options.between,
                        "A file of heddle logp --parameters, of messages between nodes");
    command->add_option("--within", options.within, "Likewise, of messages within a node");
    command->add_flag("--nonblocking", options.nonblocking, "Of calls such as MPI_Iallreduce");
    command->add_flag("--integers", options.integers,
                      "Reductions of integers, whose bits do not follow the order of operands");
    command->add_option("--calls", options.calls, "As many calls in a row, and the time of one")
        ->check(CLI::Range(1, 1000));
    command
        ->add_option("--cores", options.cores,
                     "The nodes share so many cores, one each (default: a core for each rank)")
        ->check(CLI::Range(0, 4096));
    command->add_option("--most-steps", options.most_steps,
                        "Algorithms with more steps of all ranks are left out");
    command->add_flag("--job", options.job,
                      "A job from its start to its end instead, with its results looked at");
    command->add_flag("--json", options.json, "For programs: an object");
    command->callback([&options] { predict(options); });
}

void add_locks(CLI::App& application, LocksOptions& options) {
    CLI::App* const command = application.add_subcommand(
        "locks", "How long threads take to pass a lock on, for the locks that HEDDLE_LOCK selects");
    command->add_option("--lock", options.names, "One or several; without it, all")
        ->delimiter(',')
        ->check(CLI::IsMember(known_locks()));
    command->add_option("--threads", options.threads, "Threads that want the lock all the time")
        ->check(CLI::Range(1, LocksOptions::most_threads));
    command
        ->add_option("--lines", options.lines,
                     "Cache lines, of 1024, that are written to with the lock held")
        ->check(CLI::Range(0, 1024));
    command->add_option("--seconds", options.seconds, "Of a repetition")
        ->check(CLI::Range(0.001, 3600.0));
    command->add_option("--repetitions", options.repetitions, "The median counts")
        ->check(CLI::Range(1, 10000));
    command->callback([&options] { measure_locks(options); });
}

/// Adds a subcommand that is a script. All arguments after its name, --help included, go to the
/// script.
void add_script(CLI::App& application, const char* name, const char* description,
                void (*become)(const std::vector<std::string>& arguments)) {
    CLI::App* const command = application.add_subcommand(name, description);
    command->prefix_command();
    command->set_help_flag();
    command->callback([command, become] { become(command->remaining()); });
}

void add_fortran(CLI::App& application, FortranOptions& options) {
    CLI::App* const command = application.add_subcommand(
        "fortran", "Make the modules mpi and mpi_f08 for another Fortran compiler");
    command
        ->add_option("--compiler", options.compiler,
                     "The compiler, as HEDDLE_FC names it for mpifort")
        ->required();
    command->add_option("--output", options.output,
                        "The folder for the module files (default: where mpifort looks for those "
                        "of this compiler)");
    command->callback([&options] { make_modules(options); });
}

void add_check(CLI::App& application, std::string& program) {
    CLI::App* const command = application.add_subcommand(
        "check",
        "Which MPI a program was built for, and whether it runs on Heddle (docs/faces.md)");
    command->add_option("program", program, "A program or a library")->required();
    command->callback([&program] { check_program(program); });
}

void add_where(CLI::App& application, WhereOptions& options) {
    CLI::App* const command = application.add_subcommand(
        "where",
        "What each rank of the jobs on this machine waits for, and whether for ever "
        "(docs/hangs.md)");
    command->add_option("process", options.process,
                        "Number of the job's mpiexec, or of a rank (default: all jobs)");
    command->add_flag("--json", options.json, "For programs: an array with an object for each job");
    command->callback([&options] { where(options); });
}

void add_top(CLI::App& application, TopOptions& options) {
    CLI::App* const command = application.add_subcommand(
        "top",
        "Ranks and threads of the jobs on this machine, live: time in MPI, waits, messages, memory "
        "(docs/timelines.md)");
    command->add_option("process", options.process,
                        "Number of the job's mpiexec, or of a rank (default: all jobs)");
    command->add_flag("--once", options.once, "One table, and no more");
    command->add_flag("--json", options.json, "For programs: an array in a line for each table");
    command->add_option("--seconds", options.seconds, "From one table to the next (default: 1)")
        ->check(CLI::Range(0.05, 3600.0));
    command->callback([&options] { top(options); });
}

void add_trace(CLI::App& application, TraceOptions& options) {
    CLI::App* const command = application.add_subcommand(
        "trace",
        "What matters in a file that mpiexec --trace has written: who was late, who waited, where "
        "(docs/timelines.md)");
    command->add_option("file", options.file, "The file")->required();
    command->add_flag("--json", options.json, "For programs: an object");
    command->callback([&options] { show_trace(options); });
}

struct Options {
    std::string checked;
    DoctorOptions doctor;
    InfoOptions info;
    FortranOptions fortran;
    LocksOptions locks;
    ReplayOptions replay;
    ScaleOptions scale;
    StencilOptions stencil;
    TopOptions top;
    TraceOptions trace;
    WhereOptions where;
};

int run(int argc, char** argv) {
    CLI::App application{"Heddle: MPI for programs with threads", "heddle"};
    application.set_version_flag("--version", "Heddle " HEDDLE_VERSION);
    application.require_subcommand(0, 1);
    application.footer(
        "heddle COMMAND --help says more of each. MPI programs are started by mpiexec.");
    Options options;
    add_info(application, options.info);
    add_doctor(application, options.doctor);
    add_script(application, "bench",
               "Measure and draw the papers' figures, for Heddle and other MPIs", bench);
    add_check(application, options.checked);
    add_fortran(application, options.fortran);
    add_locks(application, options.locks);
    add_script(application, "logp",
               "Measure an extended LogP model, and print its predictions beside measurements",
               logp);
    add_replay(application, options.replay);
    add_script(application, "run",
               "Start a program that was built for another MPI and finds that one first",
               run_on_face);
    add_scale(application, options.scale);
    add_stencil(application, options.stencil);
    add_top(application, options.top);
    add_trace(application, options.trace);
    add_where(application, options.where);
    try {
        CLI11_PARSE(application, argc, argv);
        if (application.get_subcommands().empty()) std::cout << application.help();
        return 0;
    } catch (const Failed& failed) {
        return failed.code;
    }
}

}  // namespace
}  // namespace heddle::cmd

// NOLINTNEXTLINE(bugprone-exception-escape): what run() lets through ends the command, rightly.
int main(int argc, char** argv) { return heddle::cmd::run(argc, argv); }
