// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The kernel's state of a process: whether it runs or sleeps, and how long it has run.

#include <optional>

namespace heddle::mpiexec {

struct ProcessState {
    char letter;      ///< the state of its first thread, as ps shows it
    long long ticks;  ///< the processor time of all its threads

    /// Returns true if it sleeps or has ended, and so does not go on by itself.
    [[nodiscard]] bool waits() const { return letter == 'S' || letter == 'Z' || letter == 'X'; }
};

/// Returns nothing if there is no such process.
std::optional<ProcessState> state_of(long long process);

}  // namespace heddle::mpiexec
