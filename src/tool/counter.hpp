// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A number that one thread at a time changes and any thread reads.
///
/// Thread safety  the thread that holds the guard of its place changes it; value() by any thread.
/// Memory order   relaxed: nothing else is concluded from a counter.

#include <atomic>
#include <cstdint>

#include "platform/counting.hpp"

namespace heddle::tool {

class Counter {
public:
    [[gnu::always_inline]] void add(std::uint64_t what = 1) noexcept {
        platform::add_alone(value_, what);
    }
    [[gnu::always_inline]] void subtract(std::uint64_t what = 1) noexcept { add(-what); }
    void raise_to(std::uint64_t least) noexcept {
        if (value() < least) value_.store(least, std::memory_order_relaxed);
    }
    std::uint64_t value() const noexcept { return value_.load(std::memory_order_relaxed); }

private:
    std::atomic<std::uint64_t> value_{0};
};

}  // namespace heddle::tool
