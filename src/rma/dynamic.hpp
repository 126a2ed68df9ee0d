// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Memory that is attached to a dynamic window (MPI 5.0, 12.2.4). It is a list that every process
/// reads and only its own process writes. Displacements are addresses of the target.

#include <cstdint>

#include "core/thread.hpp"
#include "objects/window.hpp"
#include "rma/far_messages.hpp"

namespace heddle::rma {

int attach(core::Thread& thread, objects::Window& window, const void* base, std::int64_t bytes);
int detach(core::Thread& thread, objects::Window& window, const void* base);

/// Returns the region of a target of this node that contains all of the memory. The region has 0
/// bytes if there is none.
FoundRegion attached_region(const objects::Window& window, std::int32_t rank, std::uint64_t address,
                            std::uint64_t bytes) noexcept;
inline bool is_attached(const objects::Window& window, std::int32_t rank, std::uint64_t address,
                        std::uint64_t bytes) noexcept {
    return attached_region(window, rank, address, bytes).bytes != 0;
}

}  // namespace heddle::rma
