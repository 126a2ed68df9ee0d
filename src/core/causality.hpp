// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The order that messages make between threads of this process, as a race detector that watches the program is
/// told of it (platform/sanitizers.hpp). Where there is none, nobody comes by here but for a test of one pointer
/// off the short ways, which are closed where there is one, as recipes of the laboratory close them.
///
/// Within the process   exactly what happened: a send comes before the completion of its receive, and a
///                      receive before the completion of the synchronous send that it matched.
/// Through others       a message to another process comes before all that comes from another process later.
///                      One may answer the other on any communicator, by a chain of processes that nobody here
///                      sees, so that less would call programs wrong that are right. A race is missed where its
///                      threads send and receive just in between.
///
/// Thread safety        every function from any thread.

#include "core/request.hpp"
#include "platform/sanitizers.hpp"

namespace heddle::core::causality {

/// `operation` stands for a request or whatever else it is that threads share.
inline void before(const void* operation) noexcept {
    if (platform::races_are_sought()) __tsan_release(const_cast<void*>(operation));
}
inline void after(const void* operation) noexcept {
    if (platform::races_are_sought()) __tsan_acquire(const_cast<void*>(operation));
}
/// The same for what other processes may have to do with it.
void before_other_processes() noexcept;
void after_other_processes() noexcept;

/// A receive is posted. `peer` of a receive says where its message comes from; from elsewhere until it is known.
inline constexpr std::int32_t elsewhere = -1;
void posted(Request& receive) noexcept;
/// It gets a message that `send` brought, of this process.
void matched(Request& receive, const Request& send, bool synchronous) noexcept;

/// The thread has found the operation complete.
void found_complete(const Request& request) noexcept;

}  // namespace heddle::core::causality
