// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The recent activity of a thread of another process. The thread does nothing for it. Its counters
/// are read from its memory (core/thread.hpp). The events of a job that is traced are read from
/// their file (trace/layout.hpp).

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

/// How often the thread has looked for messages, slept and been woken. These counts change while it
/// waits in MPI, and otherwise only for a short time.
struct WaitCounts {
    std::uint64_t polls = 0, sleeps = 0;
    std::uint32_t tests = 0;
    bool operator==(const WaitCounts&) const = default;
};
/// Returns nothing if the kernel does not let this process look.
std::optional<WaitCounts> wait_counts(pid_t pid, const hangs::Thread& thread);

/// Samples whether a thread waits in MPI, by two looks at a time. A thread that polls has counted
/// between them. A thread that sleeps does so at an address of the library. A thread without a core
/// between the looks shows nothing.
class WaitSampler {
public:
    void look(pid_t pid, const hangs::Thread& thread);
    void look_again(pid_t pid, const hangs::Thread& thread);
    /// Returns the share of samples in which it waited, or nothing if it could not be seen.
    std::optional<double> share() const;

private:
    std::optional<WaitCounts> first_;
    std::uint64_t run_ = 0;  ///< nanoseconds that it had run at the first look
    unsigned samples_ = 0, waits_ = 0;
};

struct Traffic {
    double in_mpi = 0;             ///< share of the time
    double messages = 0;           ///< sent and received in a second
    double calls = 0;              ///< in a second
    std::optional<int> waits_for;  ///< rank in MPI_COMM_WORLD for which its present call waits
};

/// The events of a process that is traced.
class Traced {
public:
    /// Returns nothing if it is not traced, or if its events cannot be seen from here.
    static std::unique_ptr<Traced> open(pid_t pid);
    ~Traced();
    Traced(const Traced&) = delete;
    Traced& operator=(const Traced&) = delete;

    /// Returns the traffic since the last call for the same thread. Returns nothing at first, and
    /// for threads without events.
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

/// Returns the resident memory of a process in bytes, private and shared.
std::uint64_t resident_bytes(pid_t pid);

}  // namespace heddle::activity
