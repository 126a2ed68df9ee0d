// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Put and get (MPI 5.0, 12.3.1 and 12.3.2): copies that have completed when the calls return. The
/// target takes no part, unless it is on another node (far_targets.hpp). Flushes complete the
/// operations on targets of other nodes, and those of few bytes by the kernel (gathered.hpp).
///
/// An access that is not dense, not mapped or wrong takes the slow path. The two sides may differ
/// in their datatypes. The side that receives may have more room.

#include <cstring>

#include "core/thread.hpp"
#include "rma/access.hpp"

namespace heddle::rma {

int put_slowly(core::Thread& thread, objects::Window& window, const Local& from, const Remote& to);
int get_slowly(core::Thread& thread, objects::Window& window, const Local& to, const Remote& from);

/// Copies short data in one instruction, so that no thread sees a half of an aligned value.
[[gnu::always_inline]] inline void copy_dense(std::byte* to, const std::byte* from,
                                              std::uint64_t bytes) noexcept {
    if (bytes == 8) [[likely]]
        std::memcpy(to, from, 8);
    else if (bytes == 4)
        std::memcpy(to, from, 4);
    else
        std::memmove(to, from, bytes);
}

/// Returns whether there are dense data to move, as many bytes as on the other side.
[[gnu::always_inline]] inline bool is_dense(const Local& here, std::uint64_t bytes) noexcept {
    std::int64_t length = 0;
    return here.type->contiguous && !__builtin_mul_overflow(here.count, here.type->size, &length) &&
        static_cast<std::uint64_t>(length) == bytes && bytes != 0;
}

[[gnu::always_inline]] inline int put(core::Thread& thread, objects::Window& window,
                                      const Local& from, const Remote& to) {
    std::uint64_t bytes = 0;
    std::byte* place = dense_place(window, to, bytes);
    if (place == nullptr || !is_dense(from, bytes)) [[unlikely]]
        return put_slowly(thread, window, from, to);
    copy_dense(place, from.address, bytes);
    thread.windows.window_puts.add();
    thread.windows.window_mapped_bytes.add(bytes);
    return MPI_SUCCESS;
}

[[gnu::always_inline]] inline int get(core::Thread& thread, objects::Window& window,
                                      const Local& to, const Remote& from) {
    std::uint64_t bytes = 0;
    const std::byte* place = dense_place(window, from, bytes);
    if (place == nullptr || !is_dense(to, bytes)) [[unlikely]]
        return get_slowly(thread, window, to, from);
    copy_dense(to.address, place, bytes);
    thread.windows.window_gets.add();
    thread.windows.window_mapped_bytes.add(bytes);
    return MPI_SUCCESS;
}

}  // namespace heddle::rma
