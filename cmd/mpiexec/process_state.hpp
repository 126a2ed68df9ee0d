// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// What the kernel says of a process: whether it runs or sleeps, and how long it has run.

#include <optional>

namespace heddle::mpiexec {

struct ProcessState {
    char letter;      ///< of its first thread, as ps shows it
    long long ticks;  ///< of processor time, of all its threads

    /// It sleeps, or has ended: it does not go on by itself before something happens.
    [[nodiscard]] bool waits() const { return letter == 'S' || letter == 'Z' || letter == 'X'; }
};

/// Nothing if there is no such process.
std::optional<ProcessState> state_of(long long process);

}  // namespace heddle::mpiexec
