// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Waiting for the message that says that a lock may be had, and sending it.

#include <atomic>
#include <cstdint>

#include "core/thread.hpp"
#include "objects/window.hpp"

namespace heddle::rma {

/// What is waited for, for a report.
struct AwaitedLock {
    std::int32_t target;                      ///< negative: all of them
    const std::atomic<std::int32_t>* writer;  ///< rank + 1 of who has it; nullptr: a reader of all
};

/// Waits for the message. Whoever calls it looks again then: without memory to wait with, it returns after some progress.
int hear_of_admission(core::Thread& thread, objects::Window& window, std::int32_t tag,
                      AwaitedLock awaited);

/// Tells a process that waits so. Not to be let down: without memory for a message it makes progress until there is some.
void tell_of_admission(core::Thread& thread, objects::Window& window, std::int32_t rank,
                       std::int32_t tag);

}  // namespace heddle::rma
