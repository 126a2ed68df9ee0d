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
}

namespace heddle::cmd {

/// How often it has looked for messages, slept and been woken: they change while a thread waits in MPI, and at no
/// other time for long.
struct WaitCounts {
    std::uint64_t polls = 0, sleeps = 0;
    std::uint32_t tests = 0;
    bool operator==(const WaitCounts&) const = default;
};
/// Nothing if the kernel does not let this process look.
std::optional<WaitCounts> wait_counts(pid_t pid, const hangs::Thread& thread);

/// Whether a thread waits in MPI, by counts that are read again and again.
class WaitSampler {
public:
    void sample(pid_t pid, const hangs::Thread& thread);
    /// The share of samples in which it waited; nothing: it could not be seen.
    std::optional<double> share() const;

private:
    std::optional<WaitCounts> last_;
    bool waited_ = false;
    unsigned samples_ = 0, waits_ = 0;
};

struct Traffic {
    double in_mpi = 0;    ///< share of the time
    double messages = 0;  ///< sent and received, in a second
    double calls = 0;     ///< likewise
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
    struct Seen {
        std::uint64_t written, ticks;
    };
    const trace::File& file_;
    std::map<std::uint32_t, Seen> seen_;
};

/// Of a process, in bytes: memory that it has to itself or shares.
std::uint64_t resident_bytes(pid_t pid);

}  // namespace heddle::cmd
