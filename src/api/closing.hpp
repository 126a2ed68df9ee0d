// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The end of the world model, or of a session.

#include "objects/process.hpp"

namespace heddle::api {

/// One user of the process less. The last one reports what was counted, and leaves the job.
void close(objects::Process& process);

}  // namespace heddle::api
