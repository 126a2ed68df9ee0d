// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A process at the locks of all targets (whole_lock.hpp). It has mapped the lock of its own node.
/// It asks for those of other nodes by message.
///
/// Nodes          are asked in the order of their first ranks. One question for each is enough if
///                no process keeps this one out.
/// Waiting        for a message that tells where to look again. The process holds nothing firmly
///                meanwhile.

#include <cstdint>

#include "core/thread.hpp"
#include "objects/window.hpp"
#include "rma/control.hpp"
#include "rma/far_messages.hpp"
#include "rma/meeting.hpp"

namespace heddle::rma {

/// Do the work of MPI_Win_lock_all and MPI_Win_unlock_all on all nodes.
int lock_whole(core::Thread& thread, objects::Window& window);
void unlock_whole(core::Thread& thread, objects::Window& window);

/// Waits before the process asks for the exclusive lock of a target of this node. `holds`: this
/// process has another lock of the window.
[[gnu::cold]] int wait_as_writer(core::Thread& thread, objects::Window& window, std::int32_t target,
                                 bool holds);
/// Sends messages to the processes that this node's lock has let in.
[[gnu::cold]] void tell_let_in(core::Thread& thread, objects::Window& window);

/// Calls tell(rank, tag) for each process that has been let in.
template <class Tell>
void each_let_in(objects::Window& window, Tell&& tell) {
    WholeLock::Told told;
    while (window.front->lock.take_untold(parties_of(window), told))
        tell(told.rank, whole_tag(window.here.front(), told.kind));
}

/// Takes one step of a reader of all targets, of rank `rank`, on this node.
WholeState take_step(objects::Window& window, std::int32_t rank, WholeStep step, bool& tells);

inline WholeKind kind_of_writer(bool holds) noexcept { return holds ? holder_in : writer_in; }

}  // namespace heddle::rma
