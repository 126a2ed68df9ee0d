// SPDX-License-Identifier: BSD-3-Clause
#include "rma/piece.hpp"

#include <cstring>

namespace heddle::rma {

void apply_atomically(const ElementOperation& operation, const Piece& piece) noexcept {
    const auto at = [&](auto* begin, std::int64_t i) {
        return begin == nullptr ? nullptr : begin + i * operation.step;
    };
    for (std::int64_t i = 0; i < piece.count; ++i)
        apply_to_element(
            operation, objects::moved(piece.target, static_cast<std::uint64_t>(i), operation.step),
            at(piece.origin, i), at(piece.result, i));
}

namespace {

/// Of elements that end in padding, which may be no memory behind the last one: kernels see copies.
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
    auto* target = reinterpret_cast<std::byte*>(piece.target);
    if (piece.result != nullptr)
        std::memmove(piece.result, target, bytes_of(operation, piece.count));
    if (operation.builtin != objects::Builtin::no_op)
        operation.kernel(piece.origin, target, target, static_cast<std::size_t>(piece.count));
}

void swap_in_place(objects::Place target, const std::byte* origin, const std::byte* compare,
                   std::byte* result, std::uint64_t bytes) noexcept {
    auto* place = reinterpret_cast<std::byte*>(target);
    std::memmove(result, place, bytes);
    if (std::memcmp(result, compare, bytes) == 0) std::memcpy(place, origin, bytes);
}

}  // namespace heddle::rma
