// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Looks from time to time whether all ranks of a job sleep in MPI, and if so, whether that is for ever.
///
/// Cost           a look at the boards of the ranks, a few words of each, twice in a second. Only where all ranks have
///                slept from one look to the next are /proc and the waits themselves read.
/// HEDDLE_DEADLOCK  report: the verdict is told once, and the job is ended if it waits for a rank that has ended, as it is
///                when a rank fails (the standard). abort: it is ended in any case. off: nothing.

#include <cstdint>
#include <optional>

#include "report.hpp"

namespace heddle::mpiexec {

/// Changes with each wait of any rank; 0: not all ranks wait.
[[nodiscard]] std::uint64_t fingerprint_of_waits(const Kept& kept);

class DeadlockWatch {
public:
    enum class Reaction { report, abort, off };

    /// As the variable has it, or Failure.
    static Reaction wanted();

    DeadlockWatch(const Kept& kept, Reaction reaction);

    /// When the next look is due, on the clock of now_ms(); -1: never.
    [[nodiscard]] long long due() const { return due_; }
    /// What follows of the verdict that was told.
    [[nodiscard]] bool ends_job() const { return reaction_ == Reaction::abort || for_ended_; }
    /// The first verdict that a wait is for ever, with where the ranks are, has been told: true. If it is not due: false.
    bool look(long long now);

private:
    static constexpr long long usual_ms = 400, soon_ms = 100, most_ms = 60'000;

    bool judge();

    const Kept kept_;
    const Reaction reaction_;
    long long due_;
    long long pause_ = usual_ms;  ///< until what was no verdict is looked at again
    std::uint64_t last_ = 0;
    bool for_ended_ = false;  ///< what was told: ranks wait for one that has ended
    std::optional<hangs::Snapshot> first_;
};

}  // namespace heddle::mpiexec
