// SPDX-License-Identifier: BSD-3-Clause
#include "platform/copy_choice.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace {

using heddle::platform::Copy;
using heddle::platform::CopyChoice;
using heddle::platform::CopyTrials;

/// Returns whether exactly `bytes` arrive. `from` and `to` are offsets from the beginning of a
/// line.
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

/// Notes the cost of half a block by the method in use and by the one tried.
void try_way(CopyChoice& choice, Copy tried, std::uint64_t usual_ticks, std::uint64_t tried_ticks) {
    choice.learn(choice.now(), usual_ticks, tried, tried_ticks);
}

TEST(CopyChoice, takes_the_way_that_costs_less) {
    CopyChoice choice;
    EXPECT_EQ(choice.now(), Copy::by_library);
    for (int i = 0; i < 8; ++i) {
        try_way(choice, Copy::around_cache, 400, 80);
        if (choice.now() == Copy::by_library) try_way(choice, Copy::by_vectors, 400, 390);
    }
    EXPECT_EQ(choice.now(), Copy::around_cache);
    for (int i = 0; i < 30 && choice.now() == Copy::around_cache;
         ++i) {  // the processes have moved
        try_way(choice, Copy::by_library, 200, 160);
        try_way(choice, Copy::by_vectors, 200, 80);
    }
    EXPECT_EQ(choice.now(), Copy::by_vectors);
}

TEST(CopyChoice, is_not_changed_by_a_small_gain_or_one_disturbance) {
    CopyChoice choice;
    for (int i = 0; i < 8; ++i) try_way(choice, Copy::around_cache, 400, 390);
    EXPECT_EQ(choice.now(), Copy::by_library);
    try_way(choice, Copy::around_cache, 400'000, 400);
    for (int i = 0; i < 8; ++i) try_way(choice, Copy::around_cache, 400, 400);
    EXPECT_EQ(choice.now(), Copy::by_library);
}

TEST(CopyTrials, copy_whatever_way_is_tried) {
    CopyTrials<> trials{};
    CopyTrials<Copy::by_vectors, Copy::around_cache> long_ones{};
    std::vector<std::byte> from(20'001), to(from.size());
    for (int round = 0; round < 300; ++round) {
        for (std::size_t i = 0; i < from.size(); ++i)
            from[i] = static_cast<std::byte>(i + static_cast<std::size_t>(round));
        trials.copy(to.data(), from.data(), from.size());
        ASSERT_EQ(from, to);
        std::fill(to.begin(), to.end(), std::byte{0});
        long_ones.copy(to.data(), from.data(), from.size());
        ASSERT_EQ(from, to);
    }
}

}  // namespace
