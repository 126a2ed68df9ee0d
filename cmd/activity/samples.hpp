// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// What a thread of another process has done lately. Nothing is asked of it: its counters are read from its memory
/// (core/thread.hpp), and the events of a job that is traced from their file (trace/layout.hpp).

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "hangs/snapshot.hpp"

namespace heddle::trace {
struct File;
struct Record;
}  // namespace heddle::trace

namespace heddle::activity {

/// How often it has looked for messages, slept and been woken: they change while a thread waits in MPI, and at no
/// other time for long.
struct WaitCounts {
    std::uint64_t polls = 0, sleeps = 0;
    std::uint32_t tests = 0;
    bool operator==(const WaitCounts&) const = default;
};
/// Nothing if the kernel does not let this process look.
std::optional<WaitCounts> wait_counts(pid_t pid, const hangs::Thread& thread);

/// Whether a thread waits in MPI, by two looks at a time: one that polls has counted in between, one that sleeps
/// sleeps at an address of the library. One that had no core in between says nothing.
class WaitSampler {
public:
    void look(pid_t pid, const hangs::Thread& thread);
    void look_again(pid_t pid, const hangs::Thread& thread);
    /// The share of samples in which it waited; nothing: it could not be seen.
    std::optional<double> share() const;

private:
    std::optional<WaitCounts> first_;
    std::uint64_t run_ = 0;  ///< nanoseconds that it has run, at the first look
    unsigned samples_ = 0, waits_ = 0;
};

struct Traffic {
    double in_mpi = 0;             ///< share of the time
    double messages = 0;           ///< sent and received, in a second
    double calls = 0;              ///< likewise
    std::optional<int> waits_for;  ///< rank in MPI_COMM_WORLD, of a call that has not come back
};

/// The events of a process that is traced.
class Traced {
public:
    /// Nothing if it is not traced, or keeps its events where they cannot be seen from here.
    static std::unique_ptr<Traced> open(pid_t pid);
    ~Traced();
    Traced(const Traced&) = delete;
    Traced& operator=(const Traced&) = delete;

    /// Since the call before for the same thread. Nothing at first, and for threads without events.
    std::optional<Traffic> traffic(std::uint32_t thread);

private:
    explicit Traced(const trace::File& file) : file_(file) {}
    std::optional<int> awaited(const trace::Record& record) const;

    struct Seen {
        std::uint64_t written, ticks;
    };
    const trace::File& file_;
    std::map<std::uint32_t, Seen> seen_;
};

/// Of a process, in bytes: memory that it has to itself or shares.
std::uint64_t resident_bytes(pid_t pid);

}  // namespace heddle::activity
