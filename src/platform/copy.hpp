// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Methods of copying memory that differ in cost when another core has the lines. None is the best
/// on every processor (copy_table.hpp).

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace heddle::platform {

enum class Copy : std::uint8_t {
    by_library,    ///< memcpy(): above some kilobytes mostly an instruction for copies
    by_vectors,    ///< aligned stores of whole lines
    around_cache,  ///< stores that go to memory: lines that another core has need not come here
                   ///< first
};
inline constexpr std::size_t copy_ways = 3;
/// The smallest block for by_library. Vectors copy shorter ones at least as fast.
inline constexpr std::size_t least_by_library = 8192;

/// Returns `way`, or a faster one for so few bytes.
constexpr Copy suited(Copy way, std::size_t bytes) noexcept {
    return way == Copy::by_library && bytes < least_by_library ? Copy::by_vectors : way;
}

#if defined(__x86_64__)
inline constexpr bool has_copy_ways = true;

namespace detail {

// `to` is aligned to a line, `bytes` a multiple of one.

template <bool AroundCache>
inline void copy_lines(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
    for (std::size_t at = 0; at < bytes; at += 64) {
        const auto* source = reinterpret_cast<const __m128i*>(from + at);
        auto* target = reinterpret_cast<__m128i*>(to + at);
        const __m128i quarters[4] = {_mm_loadu_si128(source), _mm_loadu_si128(source + 1),
                                     _mm_loadu_si128(source + 2), _mm_loadu_si128(source + 3)};
        for (int i = 0; i < 4; ++i)
            if constexpr (AroundCache)
                _mm_stream_si128(target + i, quarters[i]);
            else
                _mm_store_si128(target + i, quarters[i]);
    }
}

/// Copies a line with half as many instructions, if the processor has them.
[[gnu::target("avx"), gnu::always_inline]] inline void copy_line_by_avx(
    std::byte* to, const std::byte* from) noexcept {
    const auto* source = reinterpret_cast<const __m256i*>(from);
    auto* target = reinterpret_cast<__m256i*>(to);
    const __m256i half = _mm256_loadu_si256(source), other = _mm256_loadu_si256(source + 1);
    _mm256_store_si256(target, half);
    _mm256_store_si256(target + 1, other);
}
/// Copies lines, and prefetches into the second cache in a long copy, since a core waits for more
/// lines there. It also prefetches beyond the end, since long messages are copied in adjacent
/// pieces. It prefetches nothing beyond a short copy: another core may just be about to write
/// there.
[[gnu::target("avx")]] inline void copy_lines_by_avx(std::byte* to, const std::byte* from,
                                                     std::size_t bytes) noexcept {
    // A block, without the bytes before its first whole line.
    constexpr std::size_t least_long = 16384 - 64;
    constexpr std::size_t ahead = 2048;
    std::size_t at = 0;
    for (; bytes >= least_long && at < bytes; at += 64) {
        __builtin_prefetch(from + at + ahead, 0, 2);
        copy_line_by_avx(to + at, from + at);
    }
    for (; at < bytes; at += 64) copy_line_by_avx(to + at, from + at);
}

template <bool AroundCache>
inline void copy_aligned(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
    const std::size_t before = std::min(bytes, -reinterpret_cast<std::uintptr_t>(to) % 64);
    const std::size_t lines = (bytes - before) / 64 * 64, behind = before + lines;
    std::memcpy(to, from, before);
    if (!AroundCache && __builtin_cpu_supports("avx"))
        copy_lines_by_avx(to + before, from + before, lines);
    else
        copy_lines<AroundCache>(to + before, from + before, lines);
    std::memcpy(to + behind, from + behind, bytes - behind);
}

}  // namespace detail

/// Copies like memcpy(). The copy is ordered before later stores when the function returns.
inline void copy(Copy way, std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
    switch (way) {
        case Copy::by_vectors: return detail::copy_aligned<false>(to, from, bytes);
        case Copy::by_library: std::memcpy(to, from, bytes); return;
        case Copy::around_cache:
            detail::copy_aligned<true>(to, from, bytes);
            _mm_sfence();
            return;
    }
}
#else
inline constexpr bool has_copy_ways = false;

inline void copy(Copy, std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
    std::memcpy(to, from, bytes);
}
#endif

}  // namespace heddle::platform
