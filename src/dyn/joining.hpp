// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// MPI_Comm_join (MPI 5.0, 11.10.4): two processes with a socket to each other become an
/// intercommunicator. Each writes its card and a random number to the socket, and reads those of
/// the other. Nothing else travels there.

#include "comm/agreement.hpp"

namespace heddle::dyn {

/// Joins the two. `comm` has the calling process alone. Errors are raised on it: MPI_ERR_ARG if
/// `descriptor` is no socket.
int join(core::Thread& thread, objects::Communicator& comm, int descriptor, comm::Part& part);

}  // namespace heddle::dyn
