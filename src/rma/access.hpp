// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// What an access is to and where that lies: the checks of every operation on a window.
///
/// dense_place() is the short way: it answers for what is usual, and asks no more than that takes. locate() is
/// for everything else, and raises errors.

#include <cstdint>

#include "core/thread.hpp"
#include "objects/block_copy.hpp"
#include "objects/datatype.hpp"
#include "objects/window.hpp"

namespace heddle::rma {

/// Elements of the caller, at an address that has been checked.
struct Local {
    std::byte* address;  ///< only read where they are sent
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

/// Where `bytes` of dense data lie, if the target is open to this process and to short ways, and nothing is wrong; else
/// nullptr.
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
    const auto from = static_cast<std::uint64_t>(begin);  // what is negative is too large
    if (from > target.short_bytes || bytes > target.short_bytes - from) [[unlikely]]
        return nullptr;
    return target.memory + from;
}

/// Where elements in a window begin.
struct Spot {
    objects::Target* target = nullptr;
    bool direct = false;  ///< `place` is an address of this process, otherwise of the target's
    bool by_message =
        false;         ///< not direct, and the kernel does not let this process there (service.hpp)
    bool far = false;  ///< of another node: `place` is as in far_messages.hpp
    objects::Place place = 0;
};

/// Raises what is wrong with the access: no epoch, beyond the window, not attached, out of reach.
int locate(core::Thread& thread, objects::Window& window, const Remote& there, Spot& spot);

/// Bytes of data; raises an error where they are more than 2^63.
int measure(core::Thread& thread, objects::Window& window, std::int64_t count,
            const objects::Datatype& type, std::uint64_t& bytes);

/// The kernel has refused an access that nothing was wrong with before.
int not_there(core::Thread& thread, objects::Window& window, const Remote& there);

/// "rank 1, displacement 5"
std::string name_of(const Remote& there);

}  // namespace heddle::rma
