// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The end of the world model, or of a session.

#include "objects/process.hpp"

namespace heddle::api {

/// One user of the process less. The last one hands over what was sent, reports what was counted, and leaves
/// the job.
void close(core::Thread& thread);

}  // namespace heddle::api
