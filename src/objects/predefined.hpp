// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Makes the objects that exist from the start: MPI_COMM_WORLD, MPI_COMM_SELF, the predefined
/// datatypes and error handlers.

namespace heddle::objects {

class Process;
struct Errhandler;

void make_predefined(Process& process);

/// Returns the error handler of the settings (MPI 5.0, 9.3), before the program sets one.
Errhandler& initial_errhandler(Process& process) noexcept;

}  // namespace heddle::objects
