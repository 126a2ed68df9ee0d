// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A job as its user described it: what the command line says, checked, before anything is started.

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace heddle::mpiexec {

/// What ranks get of the launcher's environment, and what is added.
struct EnvironmentRule {
    std::optional<bool> inherit_all;                       ///< -genvall, -genvnone; unset: all
    std::vector<std::string> inherit;                      ///< -genvlist, -x NAME
    std::vector<std::pair<std::string, std::string>> set;  ///< -genv, -env, -x NAME=VALUE
};

/// One of the programs between colons.
struct Program {
    std::optional<int> ranks;          ///< filled in by settle() when -n was not given
    std::vector<std::string> command;  ///< name and arguments
    std::string file;                  ///< what is executed, filled in by settle()
    std::string directory;             ///< -wdir, empty: the launcher's
    std::string search;                ///< folders to look into before those of PATH
    EnvironmentRule environment;
};

/// unset: an equal share of the cores, where ranks have them for themselves.
enum class Bind { unset, share, none, core, hwthread, socket, numa, l3cache };
enum class Map { unset, core, socket, numa, l3cache, node };

/// Where ranks run, see binding.hpp.
struct Placement {
    Bind bind = Bind::unset;
    Map map = Map::unset;
    int cores_per_rank = 0;  ///< --map-by x:PE=n, 0: not given
    bool report = false;
    std::vector<int> cpus;  ///< hardware threads to use; empty: all that may be used
};

enum class InputTo { one_rank, all_ranks, nobody };

/// A machine that was named for ranks.
struct Host {
    std::string name;
    int ranks = 0;  ///< that it takes; 0: not said
};

/// What the keeper starts.
enum class Children {
    ranks,     ///< whom it connects, by PMI and shared memory
    launcher,  ///< one of another kind, which starts the ranks (hand_over.hpp)
    rank       ///< one, whom such a launcher connects (inner.hpp)
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
        output_file;  ///< pattern of a name for each rank (output_file.hpp); empty: passed on
    std::string error_file;   ///< likewise
    bool raw_output = false;  ///< ranks write to the launcher's own descriptors
    bool check = false;       ///< the checker is loaded into ranks (checker.hpp)
    bool json = false;        ///< and writes JSON
    bool quiet = false;
    std::vector<Host> hosts;  ///< empty: none was named
    int ranks_per_host = 0;   ///< 0: not said
    std::string via;          ///< which launcher starts ranks on other hosts; empty: any
    Children children = Children::ranks;
    int report_socket = -1;  ///< where keepers on other hosts connect (far_ranks.hpp); -1: nowhere
    std::string report_address;  ///< and what they are told of it
    int ranks_elsewhere = 0;     ///< whom the launcher starts
    bool crowded = false;        ///< threads outnumber cores (crowding.hpp)
    int first_rank = 0;          ///< not 0: of another launcher's job
    std::string spawn_options;   ///< for those whom ranks start (children.hpp); empty: none
    std::string trace_file;      ///< for Perfetto's viewer; empty: none is wanted
    bool timed_advice = false;
    std::string trace_folder;  ///< where ranks keep events (trace.hpp); empty: they keep none
    bool verbose = false;
    bool dry = false;                  ///< nothing is started
    std::vector<std::string> ignored;  ///< sentences on what was asked for and has no effect

    /// Number of ranks; valid once every program's is known.
    [[nodiscard]] int size() const {
        int sum = 0;
        for (const Program& program : programs) sum += program.ranks.value_or(0);
        return sum;
    }
};

/// How many ranks there can be, as far as is known (MPI_UNIVERSE_SIZE).
inline int universe_size(const Job& job) { return std::max(job.universe_size, job.size()); }

/// As -stdin has it.
inline std::string input_name(const Job& job) {
    if (job.input == InputTo::all_ranks) return "all";
    return job.input == InputTo::nobody ? "none" : std::to_string(job.input_rank);
}

/// The program that `rank` runs: programs take ranks in the order of the command line.
inline std::size_t program_of(const Job& job, int rank) {
    std::size_t index = 0;
    while (rank >= job.programs[index].ranks.value_or(0))
        rank -= job.programs[index++].ranks.value_or(0);
    return index;
}

}  // namespace heddle::mpiexec
