// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A program started as a grandchild: its parent has ended, so that it belongs to the system, or to whoever collects
/// the orphans among this process's descendants (a launcher).
///
/// The program that this library is part of does not see it: no SIGCHLD comes, and no wait() answers a process that it
/// has not started. Memory is not copied, whatever this process has mapped.

#include <span>

namespace heddle::platform {

struct Grandchild {
    const char* file;          ///< path of the program
    char* const* arguments;    ///< ends with nullptr
    char* const* environment;  ///< ends with nullptr
    /// Become 0, 1, 2 and so on; -1 stays closed. It gets no others.
    std::span<const int> descriptors;
};

/// What was refused, and why.
struct StartRefusal {
    const char* step = nullptr;  ///< "clone", "dup", "execve"; nullptr: nothing was
    int error = 0;               ///< errno
};

/// Starts it, with all signals as they are by default (but SIGHUP, which stays ignored) and none blocked. Returns when
/// it runs, or could not be started.
///
/// Thread safety  from any thread.
StartRefusal start_grandchild(const Grandchild& child) noexcept;

}  // namespace heddle::platform
