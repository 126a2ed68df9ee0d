// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Starts a program as a grandchild, whose parent has ended. It thus belongs to the system, or to
/// the launcher that adopts orphans among this process's descendants.
///
/// The program that this library is part of does not notice it. No SIGCHLD comes, and no wait()
/// returns an unknown process. Memory is not copied, however much this process has mapped.

#include <span>

namespace heddle::platform {

struct Grandchild {
    const char* file;          ///< path of the program
    char* const* arguments;    ///< ends with nullptr
    char* const* environment;  ///< ends with nullptr
    /// They become 0, 1, 2 and so on; -1 stays closed. The program gets no others.
    std::span<const int> descriptors;
};

/// The step that failed, and its error.
struct StartRefusal {
    const char* step = nullptr;  ///< "clone", "dup", "execve"; nullptr if none failed
    int error = 0;               ///< errno
};

/// Starts the program with all signals at their default (except an ignored SIGHUP) and none
/// blocked. Returns when it runs, or could not be started.
///
/// Thread safety  from any thread.
StartRefusal start_grandchild(const Grandchild& child) noexcept;

}  // namespace heddle::platform
