// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The objects that exist from the start: MPI_COMM_WORLD, MPI_COMM_SELF, the predefined datatypes and
/// error handlers.

namespace heddle::objects {

class Process;
struct Errhandler;

void make_predefined(Process& process);

/// What the settings say (MPI 5.0, 9.3), before the program says anything.
Errhandler& initial_errhandler(Process& process) noexcept;

}  // namespace heddle::objects
