// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Signals in scratch memory (shared_scratch.hpp), and waiting for them.
///
/// Waiting        a rank looks first. It spins for a short time if its core is free or the awaited
///                rank does not wait itself. Then it waits as for any request (progress/wait.hpp),
///                which makes progress meanwhile. A rank that goes to sleep posts a receive and
///                leaves a mark with the awaited rank. The awaited rank sees the mark after its
///                next signal, takes it away, and sends an empty message. A rank that needs no
///                message any more takes its mark away itself. If the awaited rank was faster, it
///                receives the message. So none is left over.
/// Naps           the ranks of a node may wait for one that waits for other nodes itself, its lead.
///                On a core that they share with it, they nap. So the lead has the core when its
///                message comes, without the turns of ranks that could only look. The lead wakes
///                them at once (sync/event_count.hpp). A nap ends by itself after a millisecond.
///                Meanwhile the rank makes no progress on anything else.
/// Order          the store of a signal and the look at the marks have no order by themselves. The
///                fence of the rank that goes to sleep orders them (sync/asymmetric_fence.hpp).

#include <cstdint>

#include "coll/schedule.hpp"
#include "core/thread.hpp"

namespace heddle::coll {

/// Returns the rank that has that place in scratch memory.
std::int32_t rank_at(const Schedule& schedule, std::int32_t place) noexcept;

/// Stores the signal of the step.
void signal(const Step& step) noexcept;

/// Returns the places of ranks that sleep until this one goes on, and takes their marks away. To be
/// called after a signal. The caller must notify each of them by a message that send_wake_up()
/// starts. No other rank will.
std::uint64_t take_sleepers(const Schedule& schedule) noexcept;
core::Request* send_wake_up(core::Thread& thread, const Schedule& schedule, std::int32_t place);

/// Naps until the step's rank has given its signal, or for some time, if other threads want this
/// core.
void nap(core::Thread& thread, const Schedule& schedule, const Step& step);
/// Wakes the ranks that nap until a signal of this one. To be called after the signal.
void wake_nappers(core::Thread& thread, const Schedule& schedule) noexcept;

/// Waits until the step's rank has given its signal.
void await(core::Thread& thread, const Schedule& schedule, const Step& step);

/// Returns how many bytes the step's rank has given.
std::uint64_t given_bytes(const Step& step) noexcept;
/// Handles data of another length than expected: moves those that fit to the expected place.
/// Returns true if the data are too long.
bool mend_length(const Schedule& schedule, const Step& step) noexcept;

}  // namespace heddle::coll
