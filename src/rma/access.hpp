// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Checks of every operation on a window: the target of an access and the place of its elements.
///
/// dense_place() is the short path: it finds the place in the usual case and checks no more than
/// this case needs. locate() handles all other cases, and raises errors.

#include <cstdint>

#include "core/thread.hpp"
#include "objects/block_copy.hpp"
#include "objects/datatype.hpp"
#include "objects/window.hpp"

namespace heddle::rma {

/// Elements of the caller, at an address that has been checked.
struct Local {
    std::byte* address;  ///< only read if the elements are sent
    std::int64_t count;
    const objects::Datatype* type;
};

/// Elements in a window.
struct Remote {
    std::int32_t rank;
    std::int64_t displacement;
    std::int64_t count;
    const objects::Datatype* type;
};

inline bool is_open(const objects::Window& window, const objects::Target& target) noexcept {
    return (window.open_to_all.load(relaxed) | target.open.load(relaxed)) != 0;
}

/// Returns the place of `bytes` of dense data. Returns nullptr unless the target is open to this
/// process and to the short path, and nothing is wrong.
[[gnu::always_inline]] inline std::byte* dense_place(const objects::Window& window,
                                                     const Remote& there,
                                                     std::uint64_t& bytes) noexcept {
    const objects::Target& target = window.targets[there.rank];
    std::int64_t begin = 0, length = 0;
    if (!is_open(window, target) || !there.type->contiguous ||
        __builtin_mul_overflow(there.displacement, target.unit, &begin) ||
        __builtin_mul_overflow(there.count, there.type->size, &length)) [[unlikely]]
        return nullptr;
    bytes = static_cast<std::uint64_t>(length);
    const auto from = static_cast<std::uint64_t>(begin);  // a negative number becomes too large
    if (from > target.short_bytes || bytes > target.short_bytes - from) [[unlikely]]
        return nullptr;
    return target.memory + from;
}

/// The place in a window at which elements begin.
struct Spot {
    objects::Target* target = nullptr;
    /// `place` is an address of this process, not one of the target's process.
    bool direct = false;
    /// The place is not direct, and the kernel does not let this process reach it (service.hpp).
    bool by_message = false;
    bool far = false;  ///< on another node: `place` is as in far_messages.hpp
    objects::Place place = 0;
};

/// Finds the place of an access. Raises an error if there is no epoch, or if the place is beyond
/// the window, not attached or unreachable.
int locate(core::Thread& thread, objects::Window& window, const Remote& there, Spot& spot);

/// Computes the bytes of data. Raises an error if there are more than 2^63.
int measure(core::Thread& thread, objects::Window& window, std::int64_t count,
            const objects::Datatype& type, std::uint64_t& bytes);

/// Raises the error for an access that the kernel has refused although all checks had passed.
int not_there(core::Thread& thread, objects::Window& window, const Remote& there);

/// Returns a text such as "rank 1, displacement 5".
std::string name_of(const Remote& there);

}  // namespace heddle::rma
