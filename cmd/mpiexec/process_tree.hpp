// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The descendants of this process, found and ended.
///
/// A subreaper inherits the orphans among its descendants, whatever session or process group they
/// moved to; so a subreaper without children has no descendants, and that is known exactly.

#include <sys/types.h>

#include <vector>

namespace heddle::mpiexec {

void become_subreaper();

/// The children of this process, and with `deep` all that stem from them.
std::vector<pid_t> descendants(bool deep);

/// What mpiexec is called that starts the children of a rank (children.hpp), which end themselves: their kernel's name.
inline constexpr const char* name_of_children = "heddle-children";

/// The nearest descendants of that name.
std::vector<pid_t> jobs_of_children();

/// Sends `signal` to all descendants but `spared` and what stems from them. Answers how many.
int signal_descendants(int signal, const std::vector<pid_t>& spared = {});

/// Kills all descendants but `spared` and reaps them. False when some did not die in a few seconds.
/// SIGCHLD must be blocked.
bool kill_descendants(const std::vector<pid_t>& spared = {});

/// Kills and reaps all descendants but `spared`, since `child`, a process of the launcher itself, was ended
/// by `signal`; says so. Answers the exit code that follows.
int end_without(pid_t child, int signal, const std::vector<pid_t>& spared = {});

}  // namespace heddle::mpiexec
