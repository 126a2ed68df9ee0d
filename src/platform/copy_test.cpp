// SPDX-License-Identifier: BSD-3-Clause
#include "platform/copy.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace {

using heddle::platform::Copy;

/// Whether exactly `bytes` arrive, from and to places so far behind the beginning of a line.
::testing::AssertionResult copies(Copy way, std::size_t from, std::size_t to, std::size_t bytes) {
    constexpr std::byte untouched{0xee};
    std::vector<std::byte> room(to + bytes + 256, untouched), source(from + bytes + 128);
    const auto line_in = [](std::vector<std::byte>& memory) {
        return memory.data() + -reinterpret_cast<std::uintptr_t>(memory.data()) % 64;
    };
    std::byte* const target = line_in(room) + to;
    std::byte* const begin = line_in(source) + from;
    for (std::size_t i = 0; i < bytes; ++i) begin[i] = static_cast<std::byte>(i % 251);
    heddle::platform::copy(way, target, begin, bytes);
    for (std::byte* at = room.data(); at != room.data() + room.size(); ++at) {
        const bool inside = at >= target && at < target + bytes;
        const std::byte expected = inside ? static_cast<std::byte>((at - target) % 251) : untouched;
        if (*at != expected)
            return ::testing::AssertionFailure()
                << bytes << " bytes from " << from << " to " << to << ": wrong at " << at - target;
    }
    return ::testing::AssertionSuccess();
}

TEST(Copy, of_any_length_between_any_places_by_any_way) {
    for (const Copy way : {Copy::by_vectors, Copy::by_library, Copy::around_cache})
        for (const std::size_t bytes : {0, 1, 63, 64, 65, 127, 128, 1000, 4096, 16384})
            for (const std::size_t from : {0, 1, 16, 63})
                for (const std::size_t to : {0, 1, 16, 63})
                    EXPECT_TRUE(copies(way, from, to, bytes)) << "way " << static_cast<int>(way);
}

}  // namespace
