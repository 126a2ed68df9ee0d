// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Writes down what a thread waits for (node/waits_for.hpp), for reports and verdicts about jobs that hang.
///
/// Cost           these functions look communicators up by their contexts, and may lock the instance of a receive.
///                They are for threads that have slept for long.

#include <cstdint>

#include "core/request.hpp"
#include "core/thread.hpp"
#include "match/message.hpp"
#include "node/waits_for.hpp"

namespace heddle::p2p {

/// The event is a message that the pattern accepts: its kind, peer, tag and communicator.
void tell_pattern(core::Thread& thread, const match::Pattern& pattern,
                  node::AwaitedEvent& event) noexcept;
/// The event is the completion of the request.
void tell_request(core::Thread& thread, const core::Request& request,
                  node::AwaitedEvent& event) noexcept;
/// One more event of `what`.
void tell_request(core::Thread& thread, const core::Request& request,
                  node::WaitsFor& what) noexcept;
/// The communicator of any kind of context, of an event whose peer is set, or is the process of this number. The kind
/// of an event within a collective call, or within MPI_Finalize, becomes that.
void tell_context(core::Thread& thread, std::uint32_t context, node::AwaitedEvent& event,
                  std::int32_t number = -1) noexcept;
/// Any process of the job may make it happen; or of other jobs, if it has met any: then it is not known which.
void tell_everybody(core::Thread& thread, node::AwaitedEvent& event) noexcept;

}  // namespace heddle::p2p
