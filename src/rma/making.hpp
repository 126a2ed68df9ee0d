// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Making and freeing windows (MPI 5.0, 12.2): collective over a communicator.
///
/// Each process says what it brings. The first process of each node takes a segment for the shared
/// state and the memory of the window there. Each process maps it, and all learn whether all have
/// mapped it. Messages that end epochs and wake waiters travel in a context of the window's own.
/// Processes of several nodes serve each other (far_service.hpp).
///
/// Errors         answered as MPI error codes that the communicator's error handler has seen, on
///                every process.

#include <cstdint>

#include "core/thread.hpp"
#include "objects/communicator.hpp"
#include "objects/info.hpp"
#include "objects/window.hpp"

namespace heddle::rma {

/// The wishes of a process for its window.
struct Wish {
    int flavor;              ///< MPI_WIN_FLAVOR_CREATE, MPI_WIN_FLAVOR_ALLOCATE, ...
    std::int64_t bytes = 0;  ///< of this process
    std::int64_t unit = 1;   ///< of displacements
    void* memory = nullptr;  ///< of the program's; MPI_WIN_FLAVOR_CREATE
    const objects::Info* info = nullptr;
};

int make(core::Thread& thread, objects::Communicator& parent, const Wish& wish,
         objects::Window*& result);

/// Waits until all processes have called it. The attributes are gone already.
int free(core::Thread& thread, objects::Window& window);

}  // namespace heddle::rma
