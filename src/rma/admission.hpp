// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Waiting for the message that says that a lock is free for this process, and sending it.

#include <atomic>
#include <cstdint>

#include "core/thread.hpp"
#include "objects/window.hpp"

namespace heddle::rma {

/// The lock that a thread waits for, for a report.
struct AwaitedLock {
    std::int32_t target;  ///< negative: all of them
    /// Rank + 1 of the exclusive holder; nullptr if a reader holds all.
    const std::atomic<std::int32_t>* writer;
};

/// Waits for the message. The caller looks at the lock again afterwards. Without memory for the
/// wait, the function returns after some progress.
int hear_of_admission(core::Thread& thread, objects::Window& window, std::int32_t tag,
                      AwaitedLock awaited);

/// Sends the message to a process that waits for it. Does not fail: without memory for a message it
/// makes progress until there is memory.
void tell_of_admission(core::Thread& thread, objects::Window& window, std::int32_t rank,
                       std::int32_t tag);

}  // namespace heddle::rma
