// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// What the ranks of a job are doing at one moment: read from the board (node/board.hpp), from /proc and, where the
/// kernel allows it, from their memory. No rank notices.
///
/// Sources        the board says which threads have slept in MPI for a while, and what they wait for. /proc says which
///                other threads there are, and whether they run. The memory of a rank says which MPI function each
///                thread has called last, and how many tests of it were in vain.
/// Trust          a rank may write anything to its page: texts are bounded, numbers are checked where they are used.

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "node/board.hpp"

namespace heddle::hangs {

/// A thread that has slept in an MPI call for a while.
struct Waiting {
    std::uint32_t thread = 0;   ///< the kernel's number
    std::uint32_t version = 0;  ///< of the entry; changes with each wait
    double seconds = 0;
    node::WaitsFor what{};
    std::string name;      ///< of the thread; empty: that of its process
    std::string location;  ///< "ring.c:12", or "ring+0x1234"; empty: not known
};

/// For what a thread waits outside of MPI (program_waits.hpp).
struct ProgramWait {
    enum class Kind : std::uint8_t {
        unknown,
        own_process,    ///< another thread of the process wakes it, and nobody else
        end_of_thread,  ///< likewise, by its end
    };
    Kind kind = Kind::unknown;
    std::uint32_t thread = 0;  ///< which one, as the one that holds a mutex; 0: not known
};

/// Any thread of a rank, as the kernel sees it.
struct Thread {
    std::uint32_t thread = 0;
    char state = '?';            ///< as ps shows it
    std::uint64_t ticks = 0;     ///< of processor time
    std::uint64_t switches = 0;  ///< how often it has given its core up, of itself or not
    bool attached = false;       ///< it has come to MPI
    bool of_library = false;
    bool is_counted = false;  ///< of the library, and what it does to others is in Traffic
    ProgramWait wait;
    std::string call;         ///< the MPI function that it called last; empty: not known
    std::uint32_t tests = 0;  ///< in vain, so far
    /// Where the thread's memory holds the name of its call (node::Attached::call); 0: not known.
    std::uint64_t call_place = 0;
};

/// What a rank has sent to ranks of other hosts, and has taken of theirs.
struct Traffic {
    bool is_counted = false;
    std::uint64_t sent = 0, taken = 0;
    bool operator==(const Traffic&) const = default;
};

struct Rank {
    int rank = 0;
    pid_t pid = 0;                   ///< 0: not started
    std::string host;                ///< empty: that of the snapshot
    bool is_heard_of = true;         ///< false: on another host, and nothing has come from there
    std::optional<std::string> end;  ///< "ended with exit code 0"; nothing: it lives
    bool knows_phase = true;
    node::Phase phase = node::Phase::started;
    bool in_barrier = false;  ///< of its launcher: in MPI_Init or MPI_Finalize
    std::int32_t thread_level = 0;
    std::uint32_t more_waiting = 0;  ///< for which the board has no room
    Traffic traffic;
    std::vector<Waiting> waiting;
    std::vector<Thread> threads;
    node::UnexpectedMessages unexpected{};
};

struct Snapshot {
    std::vector<Rank> ranks;
    std::string host;   ///< empty: it goes without saying
    bool whole = true;  ///< these are all ranks of the job
    bool several_hosts = false;
};

/// The threads that wait, by their page: those that can be read.
std::vector<Waiting> waiting_on(const node::Page& page);

/// What lies there that no receive awaits.
node::UnexpectedMessages unexpected_on(const node::Page& page);

/// These end the texts, and make them and the numbers fit to be shown.
void make_fit(node::WaitsFor& what);
void make_fit(node::UnexpectedMessages& messages);

Traffic traffic_on(const node::Page& page);

/// Fills in what page, /proc and memory say of a living rank, whose `rank` and `pid` are set.
void look_at(Rank& rank, const node::Page& page);

/// The longest wait in the snapshot, in seconds.
double longest_wait(const Snapshot& snapshot);

/// Whether the thread is among those that wait.
bool is_waiting(const Rank& rank, const Thread& thread);

}  // namespace heddle::hangs
