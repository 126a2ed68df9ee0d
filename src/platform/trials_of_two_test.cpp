// SPDX-License-Identifier: BSD-3-Clause
#include "platform/trials_of_two.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace {

using heddle::platform::TrialsOfTwo;

constexpr std::uint64_t mib = 1 << 20;

/// Walks over blocks in which each line costs a number of ticks. A piece in each 128 KiB is timed.
class Ring {
public:
    void walk(std::uint64_t bytes, std::uint64_t needed_ticks, std::uint64_t whole_ticks) {
        for (const std::uint64_t end = walked_ + bytes; walked_ < end;) {
            const bool is_whole = trials.now() == 1U;
            const std::uint64_t number = trials.stretch(), extent = is_whole ? 2 * mib : mib / 8;
            trials.ended(extent);  // the times are known when the blocks are entered again
            for (std::uint64_t i = 0; i < extent / (mib / 8); ++i)
                trials.timed(number, is_whole ? whole_ticks : needed_ticks);
            walked_ += extent;
            (is_whole ? in_whole : in_needed) += extent;
        }
    }

    TrialsOfTwo trials{};
    std::uint64_t in_whole = 0, in_needed = 0;  ///< bytes

private:
    std::uint64_t walked_ = 0;
};

TEST(TrialsOfTwo, begin_with_what_is_needed) {
    Ring ring;
    ring.walk(mib / 2, 50, 10);
    EXPECT_EQ(ring.trials.now(), 0U);
    EXPECT_EQ(ring.in_whole, 0U);
}

TEST(TrialsOfTwo, find_that_whole_walks_cost_less) {
    Ring ring;
    ring.walk(16 * mib, 50, 20);
    ring.in_needed = 0;
    ring.walk(400 * mib, 50, 20);
    EXPECT_LT(ring.in_needed, 20 * mib);
    EXPECT_GT(ring.in_needed, 0U);  // the winner is still doubted
}

TEST(TrialsOfTwo, stay_with_what_is_needed_where_it_costs_less_or_the_same) {
    for (const std::uint64_t whole_ticks :
         {std::uint64_t{30}, std::uint64_t{20}, std::uint64_t{19}}) {
        Ring ring;
        ring.walk(1000 * mib, 20, whole_ticks);
        EXPECT_LT(ring.in_whole, 50 * mib) << whole_ticks;
        EXPECT_GT(ring.in_whole, 0U);
    }
}

TEST(TrialsOfTwo, follow_a_process_that_moves) {
    Ring ring;
    ring.walk(1000 * mib, 20, 50);
    ring.walk(1000 * mib, 50, 20);
    ring.in_needed = 0;
    ring.walk(100 * mib, 50, 20);
    EXPECT_LT(ring.in_needed, 10 * mib);
    ring.walk(1000 * mib, 20, 50);
    ring.in_whole = 0;
    ring.walk(100 * mib, 20, 50);
    EXPECT_LT(ring.in_whole, 10 * mib);
}

TEST(TrialsOfTwo, end_when_nothing_can_be_timed) {
    TrialsOfTwo trials{};
    for (int i = 0; i < 16; ++i) trials.timed(trials.stretch() + 1, 20);
    trials.ended(2 * mib);
    ASSERT_EQ(trials.now(), 1U);
    for (int i = 0; i < 100; ++i) trials.ended(2 * mib);  // as if a datatype laid them out
    EXPECT_EQ(trials.now(), 0U);
}

}  // namespace
