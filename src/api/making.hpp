// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// What calls that make communicators share.

#include "comm/agreement.hpp"
#include "core/thread.hpp"
#include "objects/communicator.hpp"

namespace heddle::api {

/// The communicator that the caller gets of what was agreed on, with the error handler of `parent`;
/// MPI_COMM_NULL if it is in no part. Without `session`, it comes from the parent's, if that has one.
MPI_Comm make(core::Thread& thread, const objects::Communicator& parent, comm::Part part,
              objects::Session* session = nullptr);

}  // namespace heddle::api
