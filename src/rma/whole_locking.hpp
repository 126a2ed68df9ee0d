// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A process at the locks of all targets (whole_lock.hpp): its own node's, which it has mapped, and those of other nodes, which
/// it asks for.
///
/// Nodes          are asked in the order of their first ranks, one question for each where nobody is in the way.
/// Waiting        for a message that tells where to look again. Nothing is held firmly meanwhile.

#include <cstdint>

#include "core/thread.hpp"
#include "objects/window.hpp"
#include "rma/control.hpp"
#include "rma/far_messages.hpp"
#include "rma/meeting.hpp"

namespace heddle::rma {

/// What MPI_Win_lock_all and MPI_Win_unlock_all do on all nodes.
int lock_whole(core::Thread& thread, objects::Window& window);
void unlock_whole(core::Thread& thread, objects::Window& window);

/// Before the exclusive lock of a target of this node is asked for. `holds`: this process has another lock of the window.
[[gnu::cold]] int wait_as_writer(core::Thread& thread, objects::Window& window, std::int32_t target,
                                 bool holds);
/// Sends messages to those who have been let in; of this node's lock.
[[gnu::cold]] void tell_let_in(core::Thread& thread, objects::Window& window);

/// Calls tell(rank, tag) for each of them.
template <class Tell>
void each_let_in(objects::Window& window, Tell&& tell) {
    WholeLock::Told told;
    while (window.front->lock.take_untold(parties_of(window), told))
        tell(told.rank, whole_tag(window.here.front(), told.kind));
}

/// One step of a reader of all, of rank `rank`, on this node.
WholeState take_step(objects::Window& window, std::int32_t rank, WholeStep step, bool& tells);

inline WholeKind kind_of_writer(bool holds) noexcept { return holds ? holder_in : writer_in; }

}  // namespace heddle::rma
