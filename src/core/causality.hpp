// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The order that messages make between threads of this process. A race detector that watches the
/// program is told of it (platform/sanitizers.hpp). Without a detector this code costs one test of
/// a pointer, off the fast paths. With one the fast paths are closed.
///
/// Within the process   exactly what happened. A send comes before the completion of its receive. A
///                      receive comes before the completion of the synchronous send that it
///                      matched.
/// Through others       a message to another process comes before all messages that come from
///                      another process later. The other process may answer on any communicator, by
///                      a chain of processes that this process cannot see. A weaker order would
///                      report races in correct programs. A race is missed if its threads send and
///                      receive just in between.
///
/// Thread safety        every function from any thread.

#include "core/request.hpp"
#include "platform/sanitizers.hpp"

namespace heddle::core::causality {

/// Say that this thread comes before, or after, `operation`: a request or another shared thing.
inline void before(const void* operation) noexcept {
    if (platform::races_are_sought()) __tsan_release(const_cast<void*>(operation));
}
inline void after(const void* operation) noexcept {
    if (platform::races_are_sought()) __tsan_acquire(const_cast<void*>(operation));
}
/// Do the same for everything that other processes may have to do with it.
void before_other_processes() noexcept;
void after_other_processes() noexcept;

/// Tells that a receive is posted. Its `peer` is the process that its message comes from,
/// `elsewhere` until that is known.
inline constexpr std::int32_t elsewhere = -1;
void posted(Request& receive) noexcept;
/// Tells that the receive gets a message that `send` of this process brought.
void matched(Request& receive, const Request& send, bool synchronous) noexcept;

/// Tells that the thread has found the operation complete.
void found_complete(const Request& request) noexcept;

}  // namespace heddle::core::causality
