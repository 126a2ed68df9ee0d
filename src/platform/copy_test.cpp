// SPDX-License-Identifier: BSD-3-Clause
#include "platform/copy_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tool/copies.hpp"

namespace {

using heddle::platform::Copy;
using heddle::tool::Copies;
using heddle::tool::copy_row_for;

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

TEST(CopyRow, is_the_generic_one_for_a_processor_without_a_row) {
    const auto rows = heddle::platform::copy_rows();
    EXPECT_STREQ(rows.front().name, "generic");
    const auto& own = heddle::platform::copy_row_of_processor();
    EXPECT_TRUE(&own >= rows.data() && &own < rows.data() + rows.size());
}

TEST(CopyRow, is_chosen_by_the_knob_of_its_name) {
    heddle::tool::Settings settings;
    settings.copies = Copies::automatic;
    EXPECT_EQ(&copy_row_for(settings), &heddle::platform::copy_row_of_processor());
    const auto names = heddle::tool::spelled<Copies>;
    ASSERT_EQ(names.size(), heddle::platform::copy_rows().size() + 1);
    for (std::size_t i = 1; i < names.size(); ++i) {
        settings.copies = static_cast<Copies>(i);
        EXPECT_STREQ(copy_row_for(settings).name, names[i]);
    }
}

}  // namespace
