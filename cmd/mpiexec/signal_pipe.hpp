// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Signals to a keeper that has no guard: each becomes a byte in a pipe, as the guard writes them.

#include <initializer_list>

#include "unique_fd.hpp"

namespace heddle::mpiexec {

/// The end to read from, or Failure. Once in a process. With SIGTSTP it does not stop the process any more.
UniqueFd signals_to_keeper(std::initializer_list<int> more = {});

/// Whether a signal came that asks to end.
bool was_told_to_end() noexcept;

}  // namespace heddle::mpiexec
