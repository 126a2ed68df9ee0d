// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Reports where the ranks of a job are, and whether they wait for each other for ever. mpiexec
/// prints it before it ends a job that hangs. If another launcher has started the ranks, each
/// keeper reports on its own.

#include <chrono>
#include <optional>
#include <vector>

#include "hangs/call_sites.hpp"
#include "hangs/snapshot.hpp"
#include "hangs/verdict.hpp"
#include "job.hpp"
#include "node_memory.hpp"
#include "pmi_server.hpp"
#include "rank.hpp"

namespace heddle::mpiexec {

/// The time between two looks at ranks that a verdict compares.
inline constexpr std::chrono::milliseconds between_looks{20};

/// The keeper's data on its ranks.
struct Kept {
    const Job& job;
    const std::vector<Rank>& ranks;
    const NodeMemory& memory;
    const PmiServer& pmi;
};

/// Returns the present state of the ranks.
hangs::Snapshot look_at_ranks(const Kept& kept);

/// A report in two steps. The constructor looks at the ranks, which takes hundredths of a second.
/// They may then be ended, since tell() finds the rest in files.
class RankReport {
public:
    /// Prepares to tell nothing if no thread has waited for `least_wait` seconds.
    explicit RankReport(const Kept& kept, double least_wait = 0);
    /// Takes the two looks at all ranks of a job.
    RankReport(hangs::Snapshot before, hangs::Snapshot now);

    void tell();

private:
    std::optional<hangs::Snapshot> now_, before_;
    std::optional<hangs::CallSites> sites_;
};

/// Write lines of a report, bold on a terminal.
void say_report(const hangs::Snapshot& now, const hangs::Snapshot* before);
void say_verdict(const hangs::Verdict& verdict);

}  // namespace heddle::mpiexec
