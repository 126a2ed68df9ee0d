// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Waiting for the message that says that a lock may be had.

#include <atomic>
#include <cstdint>

#include "core/thread.hpp"
#include "objects/window.hpp"

namespace heddle::rma {

/// Waits for it. In a report it is the lock that is waited for, and `writer`, if it is not 0, is the rank + 1 of who has it.
int hear_of_admission(core::Thread& thread, objects::Window& window, std::int32_t target,
                      const std::atomic<std::int32_t>& writer);

}  // namespace heddle::rma
