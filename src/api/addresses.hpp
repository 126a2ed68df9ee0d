// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Tells whether an address can be memory of a program, at the cost of a comparison with null.

#include <cstdint>

#include "api/arguments.hpp"

namespace heddle::api {

/// The upper half of x86-64's addresses belongs to the kernel. A signed comparison refuses it
/// together with the small constants, and so the negative constants of another ABI. On other
/// processors the highest bits may be tags.
#if defined(__x86_64__)
inline constexpr bool negative_is_refused = true;
#else
inline constexpr bool negative_is_refused = false;
#endif

inline bool can_be_memory(const void* address) noexcept {
    if constexpr (negative_is_refused)
        return reinterpret_cast<std::intptr_t>(address) >= std::intptr_t{first_address};
    else
        return is_memory(address);
}
inline bool can_be_memory_or_null(const void* address) noexcept {
    return address == nullptr || can_be_memory(address);
}

}  // namespace heddle::api
