// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The bytes of a message in the user's memory: dense, or as a datatype lays them out. Offsets
/// count packed bytes. A message is packed straight into the transport's memory, and unpacked out
/// of it.

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "core/request.hpp"
#include "mpi.h"
#include "objects/datatype.hpp"
#include "objects/layout.hpp"

namespace heddle::p2p {

/// Number of bytes, and their layout.
struct Shape {
    std::uint64_t bytes = 0;
    objects::Datatype* layout = nullptr;  ///< nullptr: dense

    Shape() = default;
    Shape(std::uint64_t bytes, objects::Datatype* layout = nullptr) noexcept
        : bytes(bytes), layout(layout) {}
};

/// Packs bytes [from, from + bytes) of `data` into `packed`.
inline void gather(std::byte* packed, const std::byte* data, const objects::Datatype* layout,
                   std::uint64_t from, std::uint64_t bytes) noexcept {
    if (layout != nullptr) [[unlikely]]
        return objects::pack(*layout, data, from, packed, bytes);
    if (bytes != 0) std::memcpy(packed, data + from, bytes);
}
inline void scatter(core::Request& receive, std::uint64_t from, const std::byte* packed,
                    std::uint64_t bytes) noexcept {
    if (receive.laid_out) [[unlikely]]
        return objects::unpack(*receive.layout, receive.buffer, from, packed, bytes);
    if (bytes != 0) std::memcpy(receive.buffer + from, packed, bytes);
}
/// Does the same from a send of this process.
void transfer(const core::Request& send, core::Request& receive, std::uint64_t bytes) noexcept;

/// Notes how much of a message of `bytes` fits into the receive.
inline std::uint64_t fit(core::Request& receive, std::uint64_t bytes) noexcept {
    receive.bytes = std::min(bytes, receive.capacity);
    if (bytes > receive.capacity) [[unlikely]] {
        receive.error = MPI_ERR_TRUNCATE;
        receive.order = bytes;  // for the text of the error
    }
    return receive.bytes;
}

/// Delivers a message that is here as a whole.
inline void fill(core::Request& receive, const std::byte* data, std::uint64_t bytes) noexcept {
    scatter(receive, 0, data, fit(receive, bytes));
}

/// Keeps the layout with the request until it is freed (Requests::free()).
inline void keep_layout(core::Request& request, objects::Datatype* layout) noexcept {
    if (layout == nullptr) [[likely]]
        return;
    layout->retain();
    request.layout = layout;
    request.laid_out = true;
}
/// Returns the layout that the request keeps; nullptr: dense.
inline objects::Datatype* layout_of(const core::Request& request) noexcept {
    return request.laid_out ? request.layout : nullptr;
}

}  // namespace heddle::p2p
