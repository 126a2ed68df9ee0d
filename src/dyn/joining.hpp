// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// MPI_Comm_join (MPI 5.0, 11.10.4): two processes that have a socket to each other become an intercommunicator. Each writes
/// its card and a random number to the socket, and reads those of the other one; nothing else goes there.

#include "comm/agreement.hpp"

namespace heddle::dyn {

/// `comm`: of the calling process alone, whose error handler hears of errors: MPI_ERR_ARG for what is no socket.
int join(core::Thread& thread, objects::Communicator& comm, int descriptor, comm::Part& part);

}  // namespace heddle::dyn
