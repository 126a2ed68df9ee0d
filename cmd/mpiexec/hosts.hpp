// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The machines for the ranks: those that a user names, and those that a batch system has granted.

#include <istream>
#include <string>
#include <string_view>
#include <vector>

#include "job.hpp"

namespace heddle::mpiexec {

std::string own_host_name();

/// Adds "HOST" or "HOST:RANKS". If a machine is named twice, the numbers add up. An entry without a
/// number counts one rank. Throws Failure if `entry` has another form.
void add_host(std::vector<Host>& hosts, std::string_view entry);

/// Adds one host for each line, and returns their number. The forms are Hydra's and PRRTE's:
/// "HOST", "HOST:RANKS", "HOST slots=RANKS"; '#' begins a comment.
int read_hostfile(std::vector<Host>& hosts, std::istream& file);

/// Returns true if this process is a rank of a job. Jobs that it starts run on its machine.
bool is_rank();

/// Returns true if a job with these hosts, or in this allocation of a batch system, uses other
/// machines.
bool takes_other_machines(const Job& job);

/// Returns true in an allocation of Slurm, in which other programs may be.
bool in_slurm_allocation();

/// Returns the machines, in their order, and the ranks of each. Machines without a number share the
/// ranks that are left. If ranks outnumber the sum, each machine takes as many times more.
std::vector<Host> share_out(const Job& job);

}  // namespace heddle::mpiexec
