// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The number of rounds of a test.

#include <algorithm>
#include <cstdint>

namespace heddle::testing {

#if defined(__SANITIZE_THREAD__)
inline constexpr bool under_thread_sanitizer = true;
#elif defined(__has_feature)
inline constexpr bool under_thread_sanitizer = __has_feature(thread_sanitizer);
#else
inline constexpr bool under_thread_sanitizer = false;
#endif

/// Returns the number of rounds for a test in one thread, or whose threads take turns in a
/// simulation. ThreadSanitizer has nothing to find in such a test, and makes it 20 times as long.
/// There it returns a tenth, but at least 20 if `rounds` is.
constexpr std::uint64_t rounds_in_one_thread(std::uint64_t rounds) noexcept {
    return under_thread_sanitizer ? std::max(rounds / 10, std::min<std::uint64_t>(rounds, 20))
                                  : rounds;
}

}  // namespace heddle::testing
