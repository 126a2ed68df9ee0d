// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Epochs by fences, and by post, start, complete and wait (MPI 5.0, 12.5.1 and 12.5.2). Locks are
/// in locking.hpp.
///
/// An operation on a window has completed when its call returns. So the end of an epoch only has to
/// notify others, by empty messages in the window's own context. These messages are in order with
/// the operations before them. Targets of other nodes are flushed first.
///
/// After a fence there may be accesses until the next fence. The start of any other epoch ends that
/// one.

#include <cstdint>

#include "core/thread.hpp"
#include "objects/group.hpp"
#include "objects/window.hpp"

namespace heddle::rma {

/// Returns the name of the epoch of this process that keeps it from beginning one of another kind.
/// Returns nullptr if there is none.
const char* epoch_in_the_way(const objects::Window& window) noexcept;
[[gnu::cold]] int refuse_epoch(core::Thread& thread, objects::Window& window, const char* why);

int fence(core::Thread& thread, objects::Window& window, int assertion);
int post(core::Thread& thread, objects::Window& window, const objects::Group& group, int assertion);
int start(core::Thread& thread, objects::Window& window, const objects::Group& group,
          int assertion);
int complete(core::Thread& thread, objects::Window& window);
/// Does the work of MPI_Win_wait, and that of MPI_Win_test once is_complete().
int wait(core::Thread& thread, objects::Window& window);
bool is_complete(const objects::Exposure& exposure) noexcept;
[[gnu::cold]] int no_exposure(core::Thread& thread, objects::Window& window);

/// Returns MPI_ERR_RMA_SYNC if an epoch has not ended. MPI_Win_free calls it.
int refuse_open(core::Thread& thread, objects::Window& window);

}  // namespace heddle::rma
