// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Generalized requests (MPI 5.0, 13.2): operations of the user.

#include "core/thread.hpp"
#include "mpi.h"
#include "p2p/engine.hpp"

namespace heddle::p2p {

/// Returns nullptr if memory has run out.
core::Request* start_generalized(Engine& engine, core::Thread& thread,
                                 MPI_Grequest_query_function* query,
                                 MPI_Grequest_free_function* free,
                                 MPI_Grequest_cancel_function* cancel, void* extra_state);
/// Completes the request for the program. Like other calls on these requests, it calls the
/// program's functions and returns their error codes. The last of two threads frees the request:
/// one completes it, the other collects it or lets go of it.
int complete_generalized(core::Thread& thread, core::Request& request);

}  // namespace heddle::p2p
