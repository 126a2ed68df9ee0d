// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A job as its user described it: the command line, checked, before anything is started.

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace heddle::mpiexec {

/// The variables that ranks get from the launcher's environment, and those that are added.
struct EnvironmentRule {
    std::optional<bool> inherit_all;                       ///< -genvall, -genvnone; unset: all
    std::vector<std::string> inherit;                      ///< -genvlist, -x NAME
    std::vector<std::pair<std::string, std::string>> set;  ///< -genv, -env, -x NAME=VALUE
};

/// One of the programs between colons.
struct Program {
    std::optional<int> ranks;          ///< filled in by resolve() if -n was not given
    std::vector<std::string> command;  ///< name and arguments
    std::string file;                  ///< the file to execute, filled in by resolve()
    std::string directory;             ///< -wdir; empty for the launcher's
    std::string search;                ///< folders to look into before those of PATH
    EnvironmentRule environment;
};

/// The objects to which ranks are bound. `unset` means an equal share of the cores, if the ranks
/// have them for themselves.
enum class Bind { unset, share, none, core, hwthread, socket, numa, l3cache };
enum class Map { unset, core, socket, numa, l3cache, node };

/// The mapping and binding of ranks (binding.hpp).
struct Placement {
    Bind bind = Bind::unset;
    Map map = Map::unset;
    int cores_per_rank = 0;  ///< --map-by x:PE=n; 0 if it was not given
    bool report = false;
    std::vector<int> cpus;  ///< hardware threads to use; empty for all that may be used
};

enum class InputTo { one_rank, all_ranks, nobody };

/// A machine that the user named for ranks.
struct Host {
    std::string name;
    int ranks = 0;  ///< the number that it takes; 0 if it was not given
};

/// The kind of process that the keeper starts.
enum class Children {
    ranks,     ///< ranks that it connects by PMI and shared memory
    launcher,  ///< another launcher, which starts the ranks (hand_over.hpp)
    rank       ///< one rank that another launcher connects (inner.hpp)
};

struct Job {
    std::vector<Program> programs;
    EnvironmentRule environment;  ///< for all programs, before their own
    Placement placement;
    InputTo input = InputTo::one_rank;
    int input_rank = 0;
    int universe_size = 0;       ///< 0: the number of ranks
    double timeout_seconds = 0;  ///< 0: none
    bool tag_output = false;
    bool time_output = false;   ///< each line begins with the time
    bool merge_output = false;  ///< standard error goes where standard output goes
    std::string
        output_file;  ///< pattern of a name for each rank (output_file.hpp); empty if output is
                      ///< passed on
    std::string error_file;   ///< the same for standard error
    bool raw_output = false;  ///< ranks write to the launcher's own descriptors
    bool check = false;       ///< the checker is loaded into ranks (checker.hpp)
    bool json = false;        ///< the checker writes JSON
    bool quiet = false;
    std::vector<Host> hosts;  ///< empty if none was named
    int ranks_per_host = 0;   ///< 0 if it was not given
    std::string via;          ///< the launcher that starts ranks on other hosts; empty for any
    Children children = Children::ranks;
    int report_socket = -1;  ///< keepers on other hosts connect to it (far_ranks.hpp); -1 if there
                             ///< is none
    std::string report_address;  ///< the address that these keepers are given
    int ranks_elsewhere = 0;     ///< the number of ranks that the launcher starts
    bool crowded = false;        ///< threads outnumber cores (crowding.hpp)
    int first_rank = 0;          ///< not 0 in a job of another launcher
    std::string spawn_options;   ///< options for jobs that ranks start (children.hpp); empty for
                                 ///< none
    std::string trace_file;      ///< file for Perfetto's viewer; empty if none is wanted
    bool timed_advice = false;
    std::string trace_folder;  ///< the folder in which ranks keep events (trace.hpp); empty if they
                               ///< keep none
    bool verbose = false;
    bool dry = false;                  ///< nothing is started
    std::vector<std::string> ignored;  ///< sentences on requests that have no effect

    /// Returns the number of ranks. It is valid once every program's number is known.
    [[nodiscard]] int size() const {
        int sum = 0;
        for (const Program& program : programs) sum += program.ranks.value_or(0);
        return sum;
    }
};

/// Returns how many ranks there can be, as far as is known (MPI_UNIVERSE_SIZE).
inline int universe_size(const Job& job) { return std::max(job.universe_size, job.size()); }

/// Returns the input in the form of -stdin.
inline std::string input_name(const Job& job) {
    if (job.input == InputTo::all_ranks) return "all";
    return job.input == InputTo::nobody ? "none" : std::to_string(job.input_rank);
}

/// Returns the index of the program that `rank` runs. Programs take ranks in the order of the
/// command line.
inline std::size_t program_of(const Job& job, int rank) {
    std::size_t index = 0;
    while (rank >= job.programs[index].ranks.value_or(0))
        rank -= job.programs[index++].ranks.value_or(0);
    return index;
}

}  // namespace heddle::mpiexec
