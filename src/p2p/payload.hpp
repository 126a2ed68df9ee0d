// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The bytes of a message in the user's memory.

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "core/request.hpp"
#include "mpi.h"

namespace heddle::p2p {

/// Notes how much of a message of `bytes` fits into the receive.
inline std::uint64_t fit(core::Request& receive, std::uint64_t bytes) noexcept {
    receive.bytes = std::min(bytes, receive.capacity);
    if (bytes > receive.capacity) [[unlikely]] receive.error = MPI_ERR_TRUNCATE;
    return receive.bytes;
}

/// Delivers a message that lies here as a whole.
inline void fill(core::Request& receive, const std::byte* data, std::uint64_t bytes) noexcept {
    const std::uint64_t fitting = fit(receive, bytes);
    if (fitting != 0) std::memcpy(receive.buffer, data, fitting);
}

}  // namespace heddle::p2p
