// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Generalized requests (MPI 5.0, 13.2): operations of the user's own.

#include "core/thread.hpp"
#include "mpi.h"
#include "p2p/engine.hpp"

namespace heddle::p2p {

/// nullptr when memory has run out.
core::Request* start_generalized(Engine& engine, core::Thread& thread,
                                 MPI_Grequest_query_function* query,
                                 MPI_Grequest_free_function* free,
                                 MPI_Grequest_cancel_function* cancel, void* extra_state);
/// The program says that it is complete. Like what is done with these requests, this calls the program's
/// functions and answers their error codes. The request is freed by whoever comes last: who says that it is
/// complete, or who collects or lets go of it.
int complete_generalized(core::Thread& thread, core::Request& request);

}  // namespace heddle::p2p
