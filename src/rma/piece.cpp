// SPDX-License-Identifier: BSD-3-Clause
#include "rma/piece.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <mutex>

namespace heddle::rma {

namespace {

using objects::Builtin;
using objects::Place;

/// Returns `count` elements of a piece, from element `from` on.
Piece part_of(const ElementOperation& operation, const Piece& piece, std::int64_t from,
              std::int64_t count) noexcept {
    const auto moved = [&](auto* begin) {
        return begin == nullptr ? nullptr : begin + from * operation.step;
    };
    return {objects::moved(piece.target, static_cast<std::uint64_t>(from), operation.step),
            moved(piece.origin), moved(piece.result), count};
}

void apply_one_by_one(const ElementOperation& operation, const Piece& piece) noexcept {
    for (std::int64_t i = 0; i < piece.count; ++i) {
        const Piece one = part_of(operation, piece, i, 1);
        apply_to_element(operation, one.target, one.origin, one.result);
    }
}

}  // namespace

void apply_atomically(RowLock& lock, std::uint32_t number, const ElementOperation& operation,
                      const Piece& piece) noexcept {
    // Locking for a row costs about as much as so many locked instructions.
    constexpr std::int64_t few = 8;
    if (piece.count <= few) {
        const RowLock::Short access(lock, number);
        return apply_one_by_one(operation, piece);
    }
    // Others get their turn between two parts of a long row.
    constexpr std::uint64_t part_bytes = std::uint64_t{64} << 10;
    const auto most = static_cast<std::int64_t>(part_bytes / operation.bytes);
    for (std::int64_t done = 0; done < piece.count; done += most) {
        const Piece part = part_of(operation, piece, done, std::min(most, piece.count - done));
        const std::lock_guard guard(lock);
        apply_in_place(operation, part);
    }
}

namespace {

/// Applies the operation to elements side by side, from an origin that need not be aligned.
void apply_from_anywhere(const ElementOperation& operation, const std::byte* origin,
                         std::byte* target, std::size_t count) noexcept {
    if (reinterpret_cast<std::uintptr_t>(origin) %
            std::min<std::uint64_t>(operation.bytes, alignof(std::max_align_t)) ==
        0)
        return operation.kernel(origin, target, target, count);
    alignas(std::max_align_t) std::byte aligned[4096];
    const std::size_t most = sizeof aligned / operation.bytes;
    for (std::size_t done = 0; done < count; done += most) {
        const std::size_t some = std::min(most, count - done), at = done * operation.bytes;
        std::memcpy(aligned, origin + at, some * operation.bytes);
        operation.kernel(aligned, target + at, target + at, some);
    }
}

/// Applies the operation to elements that end in padding. There may be no memory for the padding of
/// the last one, so kernels work on copies.
void apply_to_padded(const ElementOperation& operation, const Piece& piece) noexcept {
    constexpr std::size_t largest = 2 * sizeof(long double);
    for (std::int64_t i = 0; i < piece.count; ++i) {
        const std::int64_t at = i * operation.step;
        alignas(largest) std::byte origin[largest] = {}, changed[largest] = {};
        auto* target = reinterpret_cast<std::byte*>(piece.target) + at;
        std::memcpy(changed, target, operation.bytes);
        if (piece.result != nullptr) std::memcpy(piece.result + at, changed, operation.bytes);
        if (operation.builtin == objects::Builtin::no_op) continue;
        std::memcpy(origin, piece.origin + at, operation.bytes);
        operation.kernel(origin, changed, changed, 1);
        std::memcpy(target, changed, operation.bytes);
    }
}

}  // namespace

void apply_in_place(const ElementOperation& operation, const Piece& piece) noexcept {
    if (operation.step != static_cast<std::int64_t>(operation.bytes))
        return apply_to_padded(operation, piece);
    // Old values are copied a little at a time. They are then in the nearest cache for the kernel.
    // Nor does memmove() take the processor's instruction for long copies. Some processors are ten
    // times slower at it if the places are badly aligned to each other.
    constexpr std::uint64_t kept_at_once = 1024;
    const std::int64_t most = piece.result == nullptr
        ? piece.count
        : std::max<std::int64_t>(1, static_cast<std::int64_t>(kept_at_once / operation.bytes));
    for (std::int64_t done = 0; done < piece.count; done += most) {
        const Piece part = part_of(operation, piece, done, std::min(most, piece.count - done));
        auto* target = reinterpret_cast<std::byte*>(part.target);
        if (part.result != nullptr)
            std::memmove(part.result, target, bytes_of(operation, part.count));
        if (operation.builtin != Builtin::no_op)
            apply_from_anywhere(operation, part.origin, target,
                                static_cast<std::size_t>(part.count));
    }
}

void swap_in_place(objects::Place target, const std::byte* origin, const std::byte* compare,
                   std::byte* result, std::uint64_t bytes) noexcept {
    auto* place = reinterpret_cast<std::byte*>(target);
    std::memmove(result, place, bytes);
    if (std::memcmp(result, compare, bytes) == 0) std::memcpy(place, origin, bytes);
}

}  // namespace heddle::rma
