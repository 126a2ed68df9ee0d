// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The subcommands of `heddle`. Each has a file of its own, and its options and one function here.
/// A new one needs a file, some lines here and a function in main.cpp, which alone knows the
/// command line.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heddle::cmd {

/// The exception of a subcommand that has printed an error; the command ends with `code`.
struct Failed {
    int code;
};

/// Prints the problem after the name of the command, and throws Failed.
[[noreturn]] void fail(const char* command, const std::string& problem);

/// Prints that there is no job to look at. Throws Failed if the user has named a process.
void say_without_job(const char* command, std::optional<std::int64_t> process);

struct InfoOptions {
    bool unsupported = false;
    bool collectives = false;
    bool copies = false;
    bool knobs = false;
    bool counters = false;
    bool markdown = false;
    bool manual = false;

    bool tables() const { return knobs || counters || markdown || manual; }
};

struct DoctorOptions {
    std::vector<std::string> programs;
};

/// Runs `heddle doctor`: prints what works here, what does not, and what to do about it. Throws
/// Failed{1} if something does not.
void doctor(const DoctorOptions& options);

/// Runs `heddle info`: prints the properties of this installation, and the functions it lacks.
void info(const InfoOptions& options);

struct ReplayOptions {
    std::vector<std::string> files;
    bool before_damage = false;
};

/// Runs `heddle replay`: replays recordings of matching under each engine.
void replay_files(const ReplayOptions& options);

struct StencilOptions {
    std::int64_t points = 0;
    std::string decomposition;
    std::optional<std::int64_t> threads;
};

/// Runs `heddle stencil`: the model of halo exchanges between threads.
void stencil_exchange(const StencilOptions& options);

struct ScaleOptions {
    int nodes = 128;
    int ranks_per_node = 32;
    bool in_turn = false;  ///< ranks are dealt to nodes in turn; otherwise they fill one node after
                           ///< the other
    std::vector<std::string> operations;  ///< empty for all
    std::vector<std::uint64_t> bytes = {8, 1024, 65536, 1048576};
    std::string between, within;  ///< files of heddle logp --parameters; empty for the defaults
    bool nonblocking = false;
    bool integers = false;
    int calls = 1;
    int cores = 0;
    std::uint64_t most_steps = 20'000'000;
    bool job = false;
    bool json = false;
};

/// Runs `heddle scale`: predicts collectives of many ranks (docs/scale.md). Throws Failed{1} if an
/// argument makes no sense.
void predict(const ScaleOptions& options);

struct LocksOptions {
    static constexpr int most_threads = 256;
    std::vector<std::string> names;
    int threads = 2;
    int lines = 10;
    double seconds = 0.1;
    int repetitions = 5;
};

/// Runs `heddle locks`: passes the locks of the laboratory on among threads.
void measure_locks(LocksOptions options);
std::vector<std::string> known_locks();

/// Runs `heddle bench`: the papers' figures (bench/README.md). Does not return.
[[noreturn]] void bench(const std::vector<std::string>& arguments);

/// Runs `heddle logp`: a model of single calls, and how well it predicts (docs/TOOLS.md). Does not
/// return.
[[noreturn]] void logp(const std::vector<std::string>& arguments);

/// Runs `heddle check`: prints which MPI a program needs, and which face serves it. Fails if none
/// does.
void check_program(const std::string& name);

/// Runs `heddle run`: the program with the face that it needs loaded before all other libraries.
/// Does not return.
[[noreturn]] void run_on_face(const std::vector<std::string>& command);

struct WhereOptions {
    std::optional<std::int64_t> process;  ///< mpiexec, a rank or a process in between
    bool json = false;
};

/// Runs `heddle where`: prints where the ranks of the jobs on this machine are. Throws Failed{1} if
/// there is no such job.
void where(const WhereOptions& options);

struct TopOptions {
    std::optional<std::int64_t> process;  ///< as in WhereOptions
    bool once = false;
    bool json = false;
    double seconds = 1;  ///< the duration of one table
};

/// Runs `heddle top`: prints repeatedly what the threads of the jobs on this machine do. Throws
/// Failed{1} if there is no such job.
void top(const TopOptions& options);

struct TraceOptions {
    std::string file;  ///< file of mpiexec --trace, or a folder of events
    bool json = false;
};

/// Runs `heddle trace`: prints the lines of a trace that matter. Throws Failed{1} if it is no
/// trace.
void show_trace(const TraceOptions& options);

struct FortranOptions {
    std::string compiler;
    std::string output;
};

/// Runs `heddle fortran`: makes modules for another compiler. Does not return.
[[noreturn]] void make_modules(const FortranOptions& wanted);

}  // namespace heddle::cmd
