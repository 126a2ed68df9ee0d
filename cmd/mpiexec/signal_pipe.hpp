// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Passes signals to a keeper without a guard: each becomes a byte in a pipe, as the guard writes
/// them.

#include <initializer_list>

#include "unique_fd.hpp"

namespace heddle::mpiexec {

/// Returns the end to read from, or throws Failure. Call it once in a process. With SIGTSTP in
/// `more`, that signal does not stop the process any more.
UniqueFd signals_to_keeper(std::initializer_list<int> more = {});

/// Returns true if the signal asks a job to end.
bool asks_to_end(int signal) noexcept;

/// Returns true if a signal has come that asks to end.
bool was_told_to_end() noexcept;

}  // namespace heddle::mpiexec
