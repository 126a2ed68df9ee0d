// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Waits for a process that may be of another job and end meanwhile. No communicator's error
/// handler is called for that.

#include <cstdint>

#include "core/thread.hpp"

namespace heddle::comm {

/// Waits for both requests, of which the receive is from that process, and frees them. Returns
/// false if the process is lost; incomplete requests have been given up then. The caller handles
/// errors of the requests: their first one is in `error`.
bool finish_unless_lost(core::Thread& thread, std::int32_t process, core::Request& send,
                        core::Request& receive, int& error);

}  // namespace heddle::comm
