// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Completion at the end of an epoch or in a flush: all operations that this process has begun, at
/// one target or at all, are complete there.
///
/// Errors         anything that a target or the kernel has refused is raised.

#include "rma/far_targets.hpp"
#include "rma/gathered.hpp"
#include "rma/held.hpp"

namespace heddle::rma {

inline int complete_operations(core::Thread& thread, objects::Window& window) {
    const int near = flush_gathered(thread, window);
    order_operations(thread, window);
    const int far = flush_far(thread, window);
    return near != MPI_SUCCESS ? near : far;
}
inline int complete_operations(core::Thread& thread, objects::Window& window, std::int32_t rank) {
    const int near = flush_gathered(thread, window, rank);
    order_operations(thread, window);
    const int far = flush_far(thread, window, rank);
    return near != MPI_SUCCESS ? near : far;
}

}  // namespace heddle::rma
