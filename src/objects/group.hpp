// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// An ordered set of processes (MPI 5.0, 7.2). Immutable once made.

#include <cstdint>
#include <vector>

#include "core/object.hpp"

namespace heddle::objects {

struct Group : core::Object {
    Group* next = nullptr;
    std::vector<std::int32_t> processes;  ///< rank in the group -> rank in the world
    std::int32_t rank = 0;                ///< of the calling process; MPI_UNDEFINED if it is outside

    std::int32_t size() const noexcept { return static_cast<std::int32_t>(processes.size()); }
};

}  // namespace heddle::objects
