// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Epochs by fences, and by post, start, complete and wait (MPI 5.0, 12.5.1 and 12.5.2). Locks are in locking.hpp.
///
/// An operation on a window is over when its call returns, so that what ends an epoch only has to tell others:
/// by empty messages in the window's own context. Their order is that of the operations before them. Targets of other
/// nodes are flushed before.
///
/// After a fence there may be accesses until the next one. Whatever else begins an epoch closes that one.

#include <cstdint>

#include "core/thread.hpp"
#include "objects/group.hpp"
#include "objects/window.hpp"

namespace heddle::rma {

/// Which epoch of this process keeps it from beginning one of another kind; nullptr: none.
const char* epoch_in_the_way(const objects::Window& window) noexcept;
[[gnu::cold]] int refuse_epoch(core::Thread& thread, objects::Window& window, const char* why);

int fence(core::Thread& thread, objects::Window& window, int assertion);
int post(core::Thread& thread, objects::Window& window, const objects::Group& group, int assertion);
int start(core::Thread& thread, objects::Window& window, const objects::Group& group,
          int assertion);
int complete(core::Thread& thread, objects::Window& window);
/// What MPI_Win_wait does, and MPI_Win_test once is_complete().
int wait(core::Thread& thread, objects::Window& window);
bool is_complete(const objects::Exposure& exposure) noexcept;
[[gnu::cold]] int no_exposure(core::Thread& thread, objects::Window& window);

/// By MPI_Win_free: MPI_ERR_RMA_SYNC if an epoch has not ended.
int refuse_open(core::Thread& thread, objects::Window& window);

}  // namespace heddle::rma
