// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The subcommands of `heddle`. Each has a file of its own, and here its options and one function. A new
/// one is a file, a few lines here and a function in main.cpp, which alone knows the command line.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heddle::cmd {

/// A subcommand has said what is wrong; the command ends with `code`.
struct Failed {
    int code;
};

/// Says that there is no job to look at: of this process, or of this user.
[[noreturn]] void fail_without_job(const char* command, std::optional<std::int64_t> process);

struct InfoOptions {
    bool unsupported = false;
    bool collectives = false;
    bool knobs = false;
    bool counters = false;
    bool markdown = false;
    bool manual = false;

    bool tables() const { return knobs || counters || markdown || manual; }
};

struct DoctorOptions {
    std::vector<std::string> programs;
};

/// `heddle doctor`: what works here, what does not, and what to do about it. Failed{1} if something does not.
void doctor(const DoctorOptions& options);

/// `heddle info`: what this installation is, and which functions it lacks.
void info(const InfoOptions& options);

struct ReplayOptions {
    std::vector<std::string> files;
    bool before_damage = false;
};

/// `heddle replay`: recordings of matching under each engine.
void replay_files(const ReplayOptions& options);

struct StencilOptions {
    std::int64_t points = 0;
    std::string decomposition;
    std::optional<std::int64_t> threads;
};

/// `heddle stencil`: the model of halo exchanges between threads.
void stencil_exchange(const StencilOptions& options);

struct ScaleOptions {
    int nodes = 128;
    int ranks_per_node = 32;
    bool in_turn = false;  ///< ranks are dealt to nodes, else they fill one after the other
    std::vector<std::string> operations;  ///< empty: all
    std::vector<std::uint64_t> bytes = {8, 1024, 65536, 1048576};
    std::string between, within;  ///< files of heddle logp --parameters; empty: the defaults
    bool nonblocking = false;
    bool integers = false;
    int calls = 1;
    int cores = 0;
    std::uint64_t most_steps = 20'000'000;
    bool job = false;
    bool json = false;
};

/// `heddle scale`: predictions for collectives of many ranks (docs/scale.md). Failed{1} if an argument makes no sense.
void predict(const ScaleOptions& options);

struct LocksOptions {
    static constexpr int most_threads = 256;
    std::vector<std::string> names;
    int threads = 2;
    int lines = 10;
    double seconds = 0.1;
    int repetitions = 5;
};

/// `heddle locks`: the locks of the laboratory, passed on among threads.
void measure_locks(LocksOptions options);
std::vector<std::string> known_locks();

/// `heddle bench`: the papers' figures (bench/README.md). Does not come back.
[[noreturn]] void bench(const std::vector<std::string>& arguments);

/// `heddle logp`: a model of single calls, and how well it predicts (docs/TOOLS.md). Does not come back.
[[noreturn]] void logp(const std::vector<std::string>& arguments);

/// `heddle check`: which MPI a program needs, and which face serves it. Fails if none does.
void check_program(const std::string& name);

/// `heddle run`: a program with the face that it needs before all other libraries. Does not come back.
[[noreturn]] void run_on_face(const std::vector<std::string>& command);

struct WhereOptions {
    std::optional<std::int64_t> process;  ///< mpiexec, a rank or a process in between
    bool json = false;
};

/// `heddle where`: where the ranks of the jobs on this machine are. Failed{1} if there is no such job.
void where(const WhereOptions& options);

struct TopOptions {
    std::optional<std::int64_t> process;  ///< as of WhereOptions
    bool once = false;
    bool json = false;
    double seconds = 1;  ///< of one table
};

/// `heddle top`: what the threads of the jobs on this machine do, again and again. Failed{1} if there is no such job.
void top(const TopOptions& options);

struct TraceOptions {
    std::string file;  ///< that mpiexec --trace has written, or a folder of events
    bool json = false;
};

/// `heddle trace`: the lines of a trace that matter. Failed{1} if it is none.
void show_trace(const TraceOptions& options);

struct FortranOptions {
    std::string compiler;
    std::string output;
};

/// `heddle fortran`: modules for another compiler. Does not come back.
[[noreturn]] void make_modules(const FortranOptions& wanted);

}  // namespace heddle::cmd
