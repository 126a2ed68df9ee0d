// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Counting by one writer at a time: one instruction, not locked, if the processor has one.
///
/// Thread safety  add_alone() by the thread that holds the word's guard; reading by any thread. A
///                compiler makes a load, an addition and a store of the same thing in C++.

#include <atomic>
#include <cstdint>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HEDDLE_WATCHED_BY_SANITIZER
#endif
#elif defined(__SANITIZE_THREAD__)
#define HEDDLE_WATCHED_BY_SANITIZER
#endif

namespace heddle::platform {

[[gnu::always_inline]] inline void add_alone(std::atomic<std::uint64_t>& word,
                                             std::uint64_t what) noexcept {
#if defined(__x86_64__) && !defined(HEDDLE_WATCHED_BY_SANITIZER) && !defined(_LIBCPP_VERSION)
    asm("addq %1, %0" : "+m"(word) : "er"(what) : "cc");
#else
    word.store(word.load(std::memory_order_relaxed) + what, std::memory_order_relaxed);
#endif
}

}  // namespace heddle::platform

#undef HEDDLE_WATCHED_BY_SANITIZER
