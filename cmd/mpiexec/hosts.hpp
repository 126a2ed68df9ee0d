// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Machines that ranks are to run on: as a user names them, and as a batch system has granted them.

#include <istream>
#include <string>
#include <string_view>
#include <vector>

#include "job.hpp"

namespace heddle::mpiexec {

std::string own_host_name();

/// Adds "HOST" or "HOST:RANKS". A machine that is named twice takes what both say, one rank where nothing is said.
/// Failure if it is no such text.
void add_host(std::vector<Host>& hosts, std::string_view entry);

/// Adds one for each line, and returns their number. They stand there as Hydra and PRRTE read them: "HOST", "HOST:RANKS", "HOST slots=RANKS"; '#' begins a comment.
int read_hostfile(std::vector<Host>& hosts, std::istream& file);

/// Whether this process is a rank of some job, which starts jobs of its own where it is.
bool is_rank();

/// Whether a job with these hosts, or in this allocation of a batch system, takes other machines than this one.
bool takes_other_machines(const Job& job);

/// Whether this program was started with srun's help, in whose allocation others can be.
bool in_slurm_allocation();

/// The machines and what each takes: so many ranks in all, in the order of the machines, unless what was asked for
/// says otherwise. Where ranks outnumber that, each takes as many times more.
std::vector<Host> share_out(const Job& job);

}  // namespace heddle::mpiexec
