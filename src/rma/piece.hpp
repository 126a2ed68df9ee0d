// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Elements in a row, and an operation on each: the part of an accumulate for which the places of
/// the elements are known.

#include <cstddef>
#include <cstdint>

#include "objects/block_copy.hpp"
#include "rma/atomic.hpp"
#include "rma/control.hpp"

namespace heddle::rma {

/// Elements side by side in the three places. Those of the origin and the result may be missing.
struct Piece {
    objects::Place target;
    const std::byte* origin;
    std::byte* result;
    std::int64_t count;
};

/// Returns the bytes from the first element to the end of the data of the last one.
inline std::size_t bytes_of(const ElementOperation& operation, std::int64_t count) noexcept {
    return static_cast<std::size_t>((count - 1) * operation.step) + operation.bytes;
}

/// Applies the operation to elements for which is_atomic_at() holds. `lock` is that of the target,
/// `number` that of the thread. Few elements are changed one after the other by instructions of the
/// processor, a row by vector instructions.
void apply_atomically(RowLock& lock, std::uint32_t number, const ElementOperation& operation,
                      const Piece& piece) noexcept;

/// Applies the operation in memory that this process has mapped. The caller holds the target's
/// lock.
void apply_in_place(const ElementOperation& operation, const Piece& piece) noexcept;

/// Replaces the element of the target if it is equal to `compare`. `result` receives its old value.
/// The caller holds the target's lock, and the memory is of this process.
void swap_in_place(objects::Place target, const std::byte* origin, const std::byte* compare,
                   std::byte* result, std::uint64_t bytes) noexcept;

}  // namespace heddle::rma
