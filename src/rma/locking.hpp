// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Epochs by locks (MPI 5.0, 12.5.3), and completing operations within them (12.5.4).
///
/// The locks lie beside the window's memory (window_lock.hpp) and need no thread of the target. A
/// thread that waits for one sleeps in a receive, and makes progress there as in any other.
///
/// Thread safety  threads may hold locks of different targets. An operation has completed when its
///                call returns. So a flush is a fence of the caller's own, and concerns no other
///                thread.
/// All targets    MPI_Win_lock_all is counted on each node, and so are exclusive locks, which it
///                excludes (whole_lock.hpp).
/// Far targets    are locked by messages (far_targets.hpp). The node of each orders these with its
///                own.
/// Errors         leave no lock acquired.

#include <cstdint>

#include "core/thread.hpp"
#include "objects/window.hpp"

namespace heddle::rma {

int lock(core::Thread& thread, objects::Window& window, std::int32_t rank, bool exclusive,
         int assertion);
int unlock(core::Thread& thread, objects::Window& window, std::int32_t rank);
int lock_all(core::Thread& thread, objects::Window& window, int assertion);
int unlock_all(core::Thread& thread, objects::Window& window);

[[gnu::cold]] int nothing_locked(core::Thread& thread, objects::Window& window);
[[gnu::cold]] int not_locked(core::Thread& thread, objects::Window& window, std::int32_t rank);

inline bool is_locked(const objects::Window& window, std::int32_t rank) noexcept {
    return ((window.open_to_all.load(relaxed) | window.targets[rank].open.load(relaxed)) &
            objects::by_any_lock) != 0;
}
/// Returns whether the target is locked and a flush of it is a fence.
inline bool is_near_and_locked(const objects::Window& window, std::int32_t rank) noexcept {
    return ((window.open_to_all.load(relaxed) | window.targets[rank].open.load(relaxed)) &
            objects::by_near_lock) != 0;
}
inline bool is_any_locked(const objects::Window& window) noexcept {
    return (window.open_to_all.load(relaxed) & objects::by_locks_of_all) != 0 ||
        window.locks.load(relaxed) != 0;
}

}  // namespace heddle::rma
