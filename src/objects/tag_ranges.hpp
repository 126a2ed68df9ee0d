// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Tags that follow each other, for messages that one process numbers
/// (partitioned/partitioned.hpp). They repeat after 2^31.

#include <atomic>
#include <cstdint>

#include "sync/orders.hpp"

namespace heddle::objects {

class TagRanges {
public:
    /// Returns the first of `count` tags.
    std::int32_t take(std::int64_t count) noexcept {
        std::int64_t first = next_.load(relaxed);
        std::int64_t begin;
        do begin = first + count > most ? 0 : first;
        while (!next_.compare_exchange_weak(first, begin + count, relaxed));
        return static_cast<std::int32_t>(begin);
    }

private:
    static constexpr std::int64_t most = 0x7fffffff;
    std::atomic<std::int64_t> next_{0};
};

}  // namespace heddle::objects
