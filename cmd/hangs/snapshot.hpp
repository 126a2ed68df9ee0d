// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The state of a job's ranks at one moment. It is read from the board (node/board.hpp), from /proc
/// and, if the kernel allows it, from their memory. No rank notices.
///
/// Sources        the board says which threads have slept in MPI for a while, and what they wait
///                for. /proc says which other threads there are, and whether they run. A rank's
///                memory says which MPI function each thread has called last. It also says how many
///                tests were in vain, and what they were for.
/// Trust          a rank may write anything to its page: texts are bounded, and users of numbers
///                check them.

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "node/board.hpp"
#include "node/traffic.hpp"

namespace heddle::hangs {

/// A thread that has slept in an MPI call for a while, or that tests in vain.
struct Waiting {
    std::uint32_t thread = 0;   ///< the kernel's number
    std::uint32_t version = 0;  ///< the entry's version; changes with each wait, or note of tests
    double seconds = 0;         ///< since the wait began, or since the note was written
    node::WaitsFor what{};
    std::string name;      ///< the thread's name; empty if it is that of its process
    std::string location;  ///< "ring.c:12", or "ring+0x1234"; empty if it is unknown
};

/// A wait outside of MPI (program_waits.hpp).
struct ProgramWait {
    enum class Kind : std::uint8_t {
        unknown,
        own_process,    ///< only another thread of the process wakes it
        end_of_thread,  ///< another thread of the process wakes it, by its end
    };
    Kind kind = Kind::unknown;
    std::uint32_t thread = 0;  ///< the other thread, such as the holder of a mutex; 0 if it is
                               ///< unknown
};

/// Any thread of a rank, as the kernel sees it.
struct Thread {
    std::uint32_t thread = 0;
    char state = '?';            ///< as ps shows it
    std::uint64_t ticks = 0;     ///< processor time
    std::uint64_t switches = 0;  ///< how often it has left its core, willingly or not
    bool attached = false;       ///< it has called MPI
    bool of_library = false;
    bool is_counted = false;  ///< it belongs to the library, and Traffic counts its effects on
                              ///< others
    ProgramWait wait;
    std::string call;         ///< the MPI function that it called last; empty if it is unknown
    std::uint32_t tests = 0;  ///< in vain so far.
    /// The address of the name of its call in the thread's memory (node::Attached::call), or 0 if
    /// it is unknown.
    std::uint64_t call_place = 0;
};

/// The messages that a rank has sent to other hosts, and has taken from them (node/traffic.hpp).
struct Traffic {
    bool is_counted = false;
    std::uint64_t taken = 0;
    std::array<std::uint64_t, node::traffic_groups> sent{};  ///< by the receiver's group
    bool operator==(const Traffic&) const = default;
};

struct Rank {
    int rank = 0;
    pid_t pid = 0;                   ///< 0 if it was not started
    std::string host;                ///< empty if it is that of the snapshot
    bool is_heard_of = true;         ///< false if it is on another host and has not answered
    std::optional<std::string> end;  ///< "ended with exit code 0"; nothing while it lives
    bool knows_phase = true;
    node::Phase phase = node::Phase::started;
    bool in_barrier = false;  ///< the launcher's barrier: it is in MPI_Init or MPI_Finalize
    std::int32_t thread_level = 0;
    std::uint32_t more_waiting = 0;  ///< number of threads for which the board has no room
    Traffic traffic;
    std::vector<Waiting> waiting;
    std::vector<Waiting> pollers;  ///< threads that test in vain, and what their tests are for
    std::vector<Thread> threads;
    node::UnexpectedMessages unexpected{};
};

struct Snapshot {
    std::vector<Rank> ranks;
    std::string host;   ///< empty if it is clear
    bool whole = true;  ///< all ranks of the job are here
    bool several_hosts = false;
};

/// Returns the threads that wait, by their page. Leaves out entries that cannot be read.
std::vector<Waiting> waiting_on(const node::Page& page);

/// Returns the messages that have come and that no receive awaits.
node::UnexpectedMessages unexpected_on(const node::Page& page);

/// These end the texts, and make them and the numbers fit for a line.
void make_fit(node::WaitsFor& what);
void make_fit(node::UnexpectedMessages& messages);

Traffic traffic_on(const node::Page& page);

/// Fills in the facts from page, /proc and memory about a living rank, whose `rank` and `pid` are
/// set.
void look_at(Rank& rank, const node::Page& page);

/// Returns the longest wait in the snapshot, in seconds.
double longest_wait(const Snapshot& snapshot);

/// Returns pointers to the threads that wait and to those that poll, for what holds for both.
template <class R>  // Rank or const Rank
auto waiting_and_pollers(R& rank) {
    std::vector<decltype(rank.waiting.data())> all;
    for (auto* some : {&rank.waiting, &rank.pollers})
        for (auto& waiting : *some) all.push_back(&waiting);
    return all;
}

/// Returns true if the thread is among those that wait.
bool is_waiting(const Rank& rank, const Thread& thread);

}  // namespace heddle::hangs
