// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Where the ranks of a job are, and whether they wait for each other for ever: what mpiexec tells before it ends a job
/// that hangs. Of ranks that another launcher has started each keeper tells of its own.

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

/// What a keeper knows of its ranks.
struct Kept {
    const Job& job;
    const std::vector<Rank>& ranks;
    const NodeMemory& memory;
    const PmiServer& pmi;
};

/// What the ranks are doing just now.
hangs::Snapshot look_at_ranks(const Kept& kept);

/// A report in two steps: the ranks are looked at, which takes hundredths of a second, and may then be ended; the rest
/// is found in files.
class RankReport {
public:
    /// `least_wait`: nothing is told if no thread has waited for so many seconds.
    explicit RankReport(const Kept& kept, double least_wait = 0);
    /// Of a job whose ranks have all been looked at twice.
    RankReport(hangs::Snapshot before, hangs::Snapshot now);

    void tell();

private:
    std::optional<hangs::Snapshot> now_, before_;
    std::optional<hangs::CallSites> sites_;
};

/// Writes lines of a report, bold where that shows.
void say_report(const hangs::Snapshot& now, const hangs::Snapshot* before);
void say_verdict(const hangs::Verdict& verdict);

}  // namespace heddle::mpiexec
