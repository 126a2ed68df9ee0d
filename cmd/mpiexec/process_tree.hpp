// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Finds and ends the descendants of this process.
///
/// A subreaper inherits the orphans among its descendants, in whatever session or process group
/// they are. A subreaper without children therefore surely has no descendants.

#include <sys/types.h>

#include <vector>

namespace heddle::mpiexec {

void become_subreaper();

/// Returns the children of this process; with `deep`, all its descendants.
std::vector<pid_t> descendants(bool deep);

/// The kernel's name of an mpiexec that runs the children of a rank (children.hpp). These end
/// themselves.
inline constexpr const char* name_of_children = "heddle-children";

/// Returns the nearest descendants with that name.
std::vector<pid_t> jobs_of_children();

/// Sends `signal` to all descendants except `spared` and their descendants. Returns how many got
/// it.
int signal_descendants(int signal, const std::vector<pid_t>& spared = {});

/// Kills all descendants except `spared` and reaps them. Returns false if some did not die in a few
/// seconds. SIGCHLD must be blocked.
bool kill_descendants(const std::vector<pid_t>& spared = {});

/// Kills and reaps all descendants except `spared`, after `signal` has ended `child`, a process of
/// the launcher itself. Reports that, and returns the exit code.
int end_without(pid_t child, int signal, const std::vector<pid_t>& spared = {});

}  // namespace heddle::mpiexec
