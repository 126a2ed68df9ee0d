// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The objects that exist from the start: MPI_COMM_WORLD, MPI_COMM_SELF, the predefined datatypes and
/// error handlers.

namespace heddle::objects {

class Process;

void make_predefined(Process& process);

}  // namespace heddle::objects
