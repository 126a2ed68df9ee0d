// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Elements in a row, and an operation on each: what an accumulate does once it is known where they lie.

#include <cstddef>
#include <cstdint>

#include "objects/block_copy.hpp"
#include "rma/atomic.hpp"

namespace heddle::rma {

/// Elements side by side in the three places; those of the origin and the result may be missing.
struct Piece {
    objects::Place target;
    const std::byte* origin;
    std::byte* result;
    std::int64_t count;
};

/// From the first to the end of the data of the last one.
inline std::size_t bytes_of(const ElementOperation& operation, std::int64_t count) noexcept {
    return static_cast<std::size_t>((count - 1) * operation.step) + operation.bytes;
}

/// Where is_atomic_at() holds.
void apply_atomically(const ElementOperation& operation, const Piece& piece) noexcept;

/// By the holder of the target's lock, in memory of this process.
void apply_in_place(const ElementOperation& operation, const Piece& piece) noexcept;

/// An element of the target is replaced if it is equal; `result` is what it was. Likewise.
void swap_in_place(objects::Place target, const std::byte* origin, const std::byte* compare,
                   std::byte* result, std::uint64_t bytes) noexcept;

}  // namespace heddle::rma
