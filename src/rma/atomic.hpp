// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// An operation on one element in a window by an instruction of the processor. Elements have 1, 2,
/// 4 or 8 bytes and lie at multiples of their size.
///
/// Every access by an accumulate to such an element uses this method, whatever its operation and
/// count. So all are atomic to each other. An operation without an instruction of its own is
/// repeated until no other access has come between.

#include <atomic>
#include <cstdint>
#include <cstring>

#include "objects/block_copy.hpp"
#include "objects/operation.hpp"

namespace heddle::rma {

/// The effect of an accumulate on each element.
struct ElementOperation {
    objects::Builtin builtin;
    objects::Kernel kernel;
    std::uint64_t bytes;  ///< of data
    std::int64_t step;    ///< from one element to the next
    bool integer;         ///< a sum is an addition of integers

    /// Returns whether the processor has instructions for an element at `place`.
    bool is_atomic_at(objects::Place place) const noexcept {
        return bytes <= 8 && (bytes & (bytes - 1)) == 0 && place % bytes == 0 &&
            step == static_cast<std::int64_t>(bytes);
    }
};

template <class Word>
[[gnu::always_inline]] inline Word fetch_and_apply(const ElementOperation& operation,
                                                   std::atomic_ref<Word> target,
                                                   Word origin) noexcept {
    using objects::Builtin;
    if (operation.builtin == Builtin::sum && operation.integer)
        return target.fetch_add(origin, acq_rel);
    if (operation.builtin == Builtin::replace) return target.exchange(origin, acq_rel);
    if (operation.builtin == Builtin::no_op) return target.load(acquire);
    Word before = target.load(relaxed), after;
    do {
        after = before;
        auto* const changed = reinterpret_cast<std::byte*>(&after);
        operation.kernel(reinterpret_cast<const std::byte*>(&origin), changed, changed, 1);
    } while (!target.compare_exchange_weak(before, after, acq_rel, relaxed));
    return before;
}

/// Applies the operation to a word. `origin` may be nullptr if the operation takes no value.
/// `result` is nullptr if the caller does not want the old value.
template <class Word>
inline void apply_to_word(const ElementOperation& operation, objects::Place target,
                          const std::byte* origin, std::byte* result) noexcept {
    Word given = 0;
    if (operation.builtin != objects::Builtin::no_op) std::memcpy(&given, origin, sizeof given);
    const Word before =
        fetch_and_apply(operation, std::atomic_ref<Word>(*reinterpret_cast<Word*>(target)), given);
    if (result != nullptr) std::memcpy(result, &before, sizeof before);
}

/// Applies the operation to an element for which is_atomic_at() holds.
inline void apply_to_element(const ElementOperation& operation, objects::Place target,
                             const std::byte* origin, std::byte* result) noexcept {
    switch (operation.bytes) {
        case 1: return apply_to_word<std::uint8_t>(operation, target, origin, result);
        case 2: return apply_to_word<std::uint16_t>(operation, target, origin, result);
        case 4: return apply_to_word<std::uint32_t>(operation, target, origin, result);
        default: return apply_to_word<std::uint64_t>(operation, target, origin, result);
    }
}

template <class Word>
inline void compare_and_swap_word(objects::Place target, const std::byte* origin,
                                  const std::byte* compare, std::byte* result) noexcept {
    Word given, expected;
    std::memcpy(&given, origin, sizeof given);
    std::memcpy(&expected, compare, sizeof expected);
    std::atomic_ref<Word>(*reinterpret_cast<Word*>(target))
        .compare_exchange_strong(expected, given, acq_rel, acquire);
    std::memcpy(result, &expected, sizeof expected);
}

inline void compare_and_swap_element(std::uint64_t bytes, objects::Place target,
                                     const std::byte* origin, const std::byte* compare,
                                     std::byte* result) noexcept {
    switch (bytes) {
        case 1: return compare_and_swap_word<std::uint8_t>(target, origin, compare, result);
        case 2: return compare_and_swap_word<std::uint16_t>(target, origin, compare, result);
        case 4: return compare_and_swap_word<std::uint32_t>(target, origin, compare, result);
        default: return compare_and_swap_word<std::uint64_t>(target, origin, compare, result);
    }
}

}  // namespace heddle::rma
