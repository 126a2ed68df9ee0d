// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The end of the world model, or of a session.

#include "objects/process.hpp"

namespace heddle::api {

/// Removes one user of the process. The last one hands over what was sent, reports the counters,
/// and leaves the job.
void close(core::Thread& thread);

}  // namespace heddle::api
