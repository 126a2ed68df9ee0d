// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Writes down what a thread waits for (node/waits_for.hpp), for reports and verdicts about jobs
/// that hang.
///
/// Cost           these functions look communicators up by their contexts, and may lock the
///                instance of a receive. They are for threads that have slept for long.

#include <cstdint>

#include "core/request.hpp"
#include "core/thread.hpp"
#include "match/message.hpp"
#include "node/waits_for.hpp"

namespace heddle::p2p {

/// Describes a message that the pattern accepts: its kind, peer, tag and communicator.
void tell_pattern(core::Thread& thread, const match::Pattern& pattern,
                  node::AwaitedEvent& event) noexcept;
/// Describes the completion of the request.
void tell_request(core::Thread& thread, const core::Request& request,
                  node::AwaitedEvent& event) noexcept;
/// Adds an event to `what`.
void tell_request(core::Thread& thread, const core::Request& request,
                  node::WaitsFor& what) noexcept;
/// Describes the communicator of any kind of context. The event's peer is set, or is the process of
/// this number. The event's kind becomes that of a collective call, or of MPI_Finalize, if it is
/// within one.
void tell_context(core::Thread& thread, std::uint32_t context, node::AwaitedEvent& event,
                  std::int32_t number = -1) noexcept;
/// Says that any process of the job may cause the event. If the job has met others, it may also be
/// theirs: then the process is not known.
void tell_everybody(core::Thread& thread, node::AwaitedEvent& event) noexcept;

}  // namespace heddle::p2p
