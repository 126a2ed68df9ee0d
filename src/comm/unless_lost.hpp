// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Waiting for a process that may be of another job, and end meanwhile, where no communicator's error handler is to hear of it.

#include <cstdint>

#include "core/thread.hpp"

namespace heddle::comm {

/// Waits for both requests, of which the receive is from that process, and frees them. False: the process is lost, and what
/// was not complete has been given up. Errors of the requests are left to the caller: their first one is in `error`.
bool finish_unless_lost(core::Thread& thread, std::int32_t process, core::Request& send,
                        core::Request& receive, int& error);

}  // namespace heddle::comm
