// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Features of the processor: pausing inside a spin loop, and a clock that every core reads alike.

#include <atomic>
#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace heddle::platform {

/// Tells the core that this is a spin loop.
inline void pause() noexcept {
#if defined(__x86_64__)
    _mm_pause();
#elif defined(__aarch64__)
    asm volatile("isb" ::: "memory");
#endif
}

/// Says that the line at `place` will be read soon.
inline void prefetch(const void* place) noexcept { __builtin_prefetch(place); }

/// Returns whether the bit of this number, modulo 64, is set. (A compiler keeps the modulo, which
/// the instruction implies.)
inline bool has_bit(std::uint64_t word, std::uint32_t number) noexcept {
#if defined(__x86_64__)
    bool set;
    asm("btq %q[number], %[word]" : "=@ccc"(set) : [word] "r"(word), [number] "r"(number));
    return set;
#else
    return (word >> (number & 63) & 1) != 0;
#endif
}

/// Returns ticks of the invariant counter, for durations. An out-of-order core may read it early.
inline std::uint64_t ticks() noexcept {
#if defined(__x86_64__)
    return __rdtsc();
#elif defined(__aarch64__)
    std::uint64_t value;
    asm volatile("mrs %0, cntvct_el0" : "=r"(value));
    return value;
#endif
}

/// Returns ticks that are not read before the loads that precede it in program order have
/// completed. A thread that has seen another thread's store reads a larger stamp than that thread
/// read before the store. (A plain read may execute while the load that saw the store is still in
/// flight.)
inline std::uint64_t ordered_ticks() noexcept {
#if defined(__x86_64__)
    _mm_lfence();
    return __rdtsc();
#elif defined(__aarch64__)
    std::uint64_t value;
    asm volatile("dmb ishld\n\tisb\n\tmrs %0, cntvct_el0" : "=r"(value)::"memory");
    return value;
#endif
}

/// Returns ticks when all preceding stores have reached the cache or the memory.
inline std::uint64_t ticks_after_stores() noexcept {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return ordered_ticks();
}

}  // namespace heddle::platform
