// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The events of a job's ranks in time.
///
///     load()            reads all event files (trace/layout.hpp)              load.cpp
///     match()           finds which receive got which message, and all waits  match.cpp
///     write_perfetto()  writes the file for Perfetto's viewer                 perfetto_write.cpp
///     read_perfetto()   reads the same file again                             perfetto_read.cpp
///     summarize()       returns the ten lines that matter                     summary.cpp
///     advise()          returns what costs time, and what would save it       timed_advice.cpp
///
/// Times          nanoseconds since the first event of the job, on the clock of rank 0.
/// Trust          files may have been cut off or overwritten while they were read: numbers are
///                checked.

#include <cstdint>
#include <string>
#include <vector>

namespace heddle::timeline {

using Nanoseconds = std::int64_t;

inline constexpr int nobody = -1;

/// A call, or an event within one.
struct Event {
    enum class Kind : std::uint8_t { call, sleep, instant };
    Kind kind = Kind::call;
    std::uint16_t code = 0;  ///< Record::kind; 0 for events that were read again
    std::uint16_t flags = 0;
    bool over = true;  ///< it has returned
    std::uint32_t thread = 0;
    Nanoseconds begin = 0, end = 0;
    std::string name;      ///< "MPI_Send"
    std::string category;  ///< "p2p"
    std::string object;    ///< name of communicator, window or file; empty for none
    std::uint64_t identity = 0;
    std::uint32_t sequence = 0;
    int peer = nobody;  ///< rank in MPI_COMM_WORLD: the target, the source, the root
    int tag = nobody;
    std::int64_t bytes = 0;
    std::uint32_t repeats = 0;
    std::int32_t site = -1;  ///< index in Timeline::locations; negative if it is unknown
    std::uint64_t request = 0;
    Nanoseconds posted = 0;  ///< when a complete receive was posted
    /// The rank for which it waited, and the time when that rank came.
    int waits_for = nobody;
    Nanoseconds waited_until = 0;
    std::vector<std::uint64_t> flows_out, flows_in;

    Nanoseconds duration() const { return end - begin; }
    Nanoseconds waited() const {
        return waits_for == nobody || waited_until <= begin
            ? 0
            : (waited_until < end ? waited_until : end) - begin;
    }
};

struct Thread {
    std::uint32_t id = 0;
    std::string name;
    std::uint64_t lost = 0;  ///< number of events before the first that is kept
};

struct Rank {
    int rank = nobody;
    std::uint32_t pid = 0;
    std::string host, program;
    bool finalized = false;
    std::vector<Thread> threads;
    std::vector<Event> events;  ///< each thread's in the order in which they began

    Nanoseconds begin() const;
    Nanoseconds end() const;
};

struct Timeline {
    std::vector<Rank> ranks;  ///< sorted
    std::vector<std::string> locations;
    int size = 0;                  ///< number of ranks of the job
    std::uint64_t first_real = 0;  ///< time 0 (CLOCK_REALTIME, nanoseconds)

    Nanoseconds end() const;
    const std::string& location(const Event& event) const;
};

/// The end of events that have not returned: the last event, or now. Use `now` if ranks are running
/// or have just ended.
enum class Until : std::uint8_t { last_event, now };

/// Reads the files in `folder`. Returns no ranks if there are none. Asks addr2line for the places
/// of calls.
Timeline load(const std::string& folder, Until until);

void match(Timeline& timeline);

/// Throws std::system_error.
void write_perfetto(const Timeline& timeline, const std::string& path);

/// Throws std::runtime_error if it is not a file that write_perfetto() wrote.
Timeline read_perfetto(const std::string& path);

/// A part of the critical path, from the end of the job back to its begin. If it were shorter, the
/// job would end sooner.
struct Stretch {
    int rank;
    Nanoseconds begin, end;
};
std::vector<Stretch> critical_path(const Timeline& timeline);

std::vector<std::string> summarize(const Timeline& timeline);
std::string summary_in_json(const Timeline& timeline);

/// A cost of more than a hundredth of the time. The list begins with the highest.
struct Advice {
    std::vector<int> ranks;
    std::string call, location;
    int waits_for = nobody;
    std::uint64_t times = 0;
    Nanoseconds lost = 0;  ///< the sum over all `ranks`
    double share = 0;      ///< part of their time
    Nanoseconds late = 0;  ///< the average
    std::string sentence;
};
std::vector<Advice> advise(const Timeline& timeline);
std::string advice_in_json(const std::vector<Advice>& advice);

/// Returns a text such as "0, 2-5".
std::string list_of_ranks(const std::vector<int>& ranks);
/// Returns a text such as "9.3 ms".
std::string duration_text(Nanoseconds duration);
/// Returns a text such as "MPI_Send (ring.c:12)".
std::string call_text(const std::string& call, const std::string& location);

/// The place of a call. locate() returns "ring.c:12" by addr2line, else "ring+0x1234".
struct Place {
    std::string file;
    std::uint64_t offset = 0;
};
std::vector<std::string> locate(const std::vector<Place>& places);

}  // namespace heddle::timeline
