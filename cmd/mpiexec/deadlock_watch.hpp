// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Checks from time to time whether all ranks of a job sleep in MPI, and if so, whether for ever.
///
/// Cost           twice in a second, a few words of each rank's board are read. /proc and the waits
///                themselves are read only if all ranks have slept from one look to the next.
/// HEDDLE_DEADLOCK  report: the verdict is told once. The job is ended if it waits for a rank that
///                  has ended, as when a rank fails (the standard). abort: the job is ended in any
///                  case. off: nothing happens.

#include <cstdint>
#include <optional>

#include "report.hpp"

namespace heddle::mpiexec {

/// Returns a number that changes with each wait of any rank. Returns 0 if not all ranks wait.
[[nodiscard]] std::uint64_t fingerprint_of_waits(const Kept& kept);

class DeadlockWatch {
public:
    enum class Reaction { report, abort, off };

    /// Returns the variable's value, or throws Failure.
    static Reaction wanted();

    DeadlockWatch(const Kept& kept, Reaction reaction);

    /// Returns when the next look is due, on the clock of now_ms(), or -1 for never.
    [[nodiscard]] long long due() const { return due_; }
    /// Returns whether the verdict that was told ends the job.
    [[nodiscard]] bool ends_job() const { return reaction_ == Reaction::abort || for_ended_; }
    /// Looks if a look is due. Returns true when it has told the first verdict that a wait is for
    /// ever, and where the ranks are.
    bool look(long long now);

private:
    static constexpr long long usual_ms = 400, soon_ms = 100, most_ms = 60'000;
    static constexpr int most_looks = 4;

    bool judge();

    const Kept kept_;
    const Reaction reaction_;
    long long due_;
    long long pause_ = usual_ms;  ///< the time until the waits are judged again, after no verdict
    /// Looks at a job of which some ranks are proven to be stuck. Others of them may have woken
    /// between two looks, if only to give memory back.
    int looks_left_ = most_looks;
    std::uint64_t last_ = 0;
    bool for_ended_ = false;  ///< the verdict: ranks wait for one that has ended
    std::optional<hangs::Snapshot> first_;
};

}  // namespace heddle::mpiexec
