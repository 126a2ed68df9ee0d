// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The number of rounds of a test.

#include <algorithm>
#include <cstdint>

#include "platform/counting.hpp"

namespace heddle::testing {

/// Returns the number of rounds for a test in one thread, or whose threads take turns in a
/// simulation. ThreadSanitizer has nothing to find in such a test, and makes it 20 times as long.
/// There it returns a tenth, but at least 20 if `rounds` is.
constexpr std::uint64_t rounds_in_one_thread(std::uint64_t rounds) noexcept {
#ifdef HEDDLE_WATCHED_BY_SANITIZER
    return std::max(rounds / 10, std::min<std::uint64_t>(rounds, 20));
#else
    return rounds;
#endif
}

}  // namespace heddle::testing
