// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Memory that is attached to a dynamic window (MPI 5.0, 12.2.4): a list that every process reads and only its
/// own writes. Displacements are addresses of the target.

#include <cstdint>

#include "core/thread.hpp"
#include "objects/window.hpp"

namespace heddle::rma {

int attach(core::Thread& thread, objects::Window& window, const void* base, std::int64_t bytes);
int detach(core::Thread& thread, objects::Window& window, const void* base);

/// Whether all of it is in one region of the target.
bool is_attached(const objects::Window& window, std::int32_t rank, std::uint64_t address,
                 std::uint64_t bytes) noexcept;

}  // namespace heddle::rma
