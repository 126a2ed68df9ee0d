// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The common part of calls that make communicators.

#include "comm/agreement.hpp"
#include "core/thread.hpp"
#include "objects/communicator.hpp"

namespace heddle::api {

/// Makes the caller's communicator of the agreed part, with the error handler of `parent`. Returns
/// MPI_COMM_NULL if the caller is in no part. Without `session`, the communicator comes from the
/// parent's session, if there is one.
MPI_Comm make(core::Thread& thread, const objects::Communicator& parent, comm::Part part,
              objects::Session* session = nullptr);

}  // namespace heddle::api
