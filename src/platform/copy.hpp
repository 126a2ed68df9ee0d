// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Copying that goes around the cache.

#include <cstddef>
#include <cstring>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace heddle::platform {

#if defined(__x86_64__)
inline constexpr bool copies_around_cache = true;

/// memcpy() whose stores go to memory and leave no line in the cache of this core: what another core has of
/// `to` need not come here first. `to` is aligned to 64 bytes. Ordered before later stores when it returns.
inline void copy_around_cache(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
    std::size_t at = 0;
    for (; at + 64 <= bytes; at += 64) {
        const auto* source = reinterpret_cast<const __m128i*>(from + at);
        auto* target = reinterpret_cast<__m128i*>(to + at);
        const __m128i a = _mm_loadu_si128(source), b = _mm_loadu_si128(source + 1);
        const __m128i c = _mm_loadu_si128(source + 2), d = _mm_loadu_si128(source + 3);
        _mm_stream_si128(target, a);
        _mm_stream_si128(target + 1, b);
        _mm_stream_si128(target + 2, c);
        _mm_stream_si128(target + 3, d);
    }
    std::memcpy(to + at, from + at, bytes - at);
    _mm_sfence();
}
#else
inline constexpr bool copies_around_cache = false;

inline void copy_around_cache(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
    std::memcpy(to, from, bytes);
}
#endif

}  // namespace heddle::platform
