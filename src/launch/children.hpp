// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Processes that this process starts: the children of MPI_Comm_spawn.
///
/// Starter        mpiexec of this installation starts them, under every launcher and for a program
///                that is alone. It is a grandchild of this process (platform/grandchild.hpp), so
///                that a program that waits for its children never sees it. It writes where this
///                process writes, and has nothing to read from.
/// Environment    that of this process at the time, without the variables that say which rank this
///                is, with HEDDLE_PARENT.
/// Life           children end when the last Children object of theirs is destroyed, unless they
///                were released before. They end likewise when this process ends in any way. They
///                obey the signals and limits of an outer mpiexec.
/// Reports        started, or not_started for each command at fault; then ended_early at most once;
///                ended is the last. If not_started, ended_early or ended comes before all children
///                have connected, they never will. The other children are ended then without being
///                asked for.
/// Thread safety  several threads may start children at once; an object is for one thread at a
///                time.

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace heddle::launch {

using InfoPairs = std::vector<std::pair<std::string, std::string>>;

/// One command of MPI_Comm_spawn_multiple.
struct Command {
    std::string program;
    std::vector<std::string> arguments;  ///< without the name of the program
    int maxprocs = 1;
    InfoPairs info;
};

struct ChildReport {
    enum class Kind {
        started,      ///< all children have become their programs
        not_started,  ///< command `command` cannot be started: `reason`, `error`
        ended_early,  ///< child `rank` has ended before it left MPI_Init
        ended         ///< no child is left; `exit_code` is that of mpiexec
    };
    Kind kind = Kind::ended;
    int command = -1;   ///< index into the commands; -1: all, or not known
    int rank = -1;      ///< in the children's MPI_COMM_WORLD
    int exit_code = 0;  ///< of the child, or of the job
    int signal = 0;     ///< that has ended the child; 0: none
    int error = 0;      ///< errno, as far as known
    /// A clause for the user, without a full stop; may be empty for started and ended.
    std::string reason{};
};

/// Returns how many processes a command starts. This is `maxprocs`, unless info key soft gives a
/// set of numbers. Then it is the largest of them that is not above `maxprocs` (MPI 5.0, 11.8.1).
/// Throws std::runtime_error if the set has none, or is not one.
int number_to_start(const Command& command);

/// Returns the path of the mpiexec that starts children. This is `setting`
/// (tool::Settings::mpiexec), or for "auto" the one that was installed with this library. Throws
/// std::runtime_error if there is none.
std::string find_mpiexec(const std::string& setting);

class Children {
public:
    /// Starts them. They find `parent` in HEDDLE_PARENT. `mpiexec` comes from find_mpiexec().
    /// Throws std::runtime_error with a sentence if it cannot even try: no process, no descriptor,
    /// no memory, a set of numbers without one.
    Children(const std::vector<Command>& commands, const std::string& parent,
             const std::string& mpiexec);
    Children(Children&& other) noexcept;
    Children& operator=(Children&& other) noexcept;
    /// Ends the children, unless they were released.
    ~Children();

    /// Returns how many children each command starts.
    const std::vector<int>& numbers() const noexcept { return numbers_; }
    int size() const noexcept;

    /// Returns a descriptor that is readable when read() has a report. Returns -1 once `ended` was
    /// read. This object owns it.
    int descriptor() const noexcept { return control_; }
    /// Returns the next report, if one has come. Never waits.
    std::optional<ChildReport> read();

    /// Lets the children outlive this object and this process. They still end with an outer
    /// mpiexec.
    void release() noexcept;

private:
    ChildReport over(std::string reason) noexcept;

    std::vector<int> numbers_;
    int control_ = -1;
};

}  // namespace heddle::launch
