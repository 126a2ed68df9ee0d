// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Signals in scratch memory (shared_scratch.hpp), and waiting for them.
///
/// Waiting        a look, then a short spin where the core is free, or the rank that is waited for does not wait
///                itself, then as for any request (progress/wait.hpp), which makes progress meanwhile. Who goes to
///                sleep posts a receive and leaves a mark with the rank that it waits for. That rank sees the mark
///                after its next signal, takes it away, and sends an empty message. Who needs none any more takes the mark away itself,
///                or, if the other was faster, receives the message: so none is left over.
/// Order          the store of a signal and the look at the marks stand in no order by themselves; the fence
///                of who goes to sleep orders them (sync/asymmetric_fence.hpp).

#include <cstdint>

#include "coll/schedule.hpp"
#include "core/thread.hpp"

namespace heddle::coll {

/// Which rank has that place in scratch memory.
std::int32_t rank_at(const Schedule& schedule, std::int32_t place) noexcept;

/// Stores the signal of the step.
void signal(const Step& step) noexcept;

/// Places of ranks that sleep until this one goes on, and are to be told by a message that send_wake_up() starts; to be
/// called after a signal. Nobody else will tell them.
std::uint64_t take_sleepers(const Schedule& schedule) noexcept;
core::Request* send_wake_up(core::Thread& thread, const Schedule& schedule, std::int32_t place);

/// Waits until the step's rank has given its signal.
void await(core::Thread& thread, const Schedule& schedule, const Step& step);

/// How many bytes it has given.
std::uint64_t given_bytes(const Step& step) noexcept;
/// What a rank has given in a turn has another length than is expected of it: true if it is too long. What fits is
/// where it is looked for.
bool mend_length(const Schedule& schedule, const Step& step) noexcept;

}  // namespace heddle::coll
