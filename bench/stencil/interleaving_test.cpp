// SPDX-License-Identifier: BSD-3-Clause
#include "stencil/interleaving.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "match/list.hpp"

namespace {

using namespace heddle;
using stencil::Depth;
using stencil::Turns;

constexpr Turns all_turns[] = {Turns::single, Turns{5}, Turns::whole};

TEST(Interleaving, every_thread_issues_its_tags_in_order) {
    stencil::Random random(1);
    for (const Turns turns : all_turns)
        for (const int threads : {1, 2, 7, 40, 100}) {
            const std::vector<std::int32_t> order = stencil::interleave(40, threads, turns, random);
            ASSERT_EQ(order.size(), 40u);
            std::vector<int> latest(static_cast<std::size_t>(threads), -1);
            for (const std::int32_t tag : order) {
                int& before = latest[static_cast<std::size_t>(tag % threads)];
                ASSERT_EQ(tag, before == -1 ? tag % threads : before + threads);
                before = tag;
            }
        }
}

TEST(Interleaving, a_whole_turn_lasts_until_the_thread_is_done) {
    stencil::Random random(2);
    const std::vector<std::int32_t> order = stencil::interleave(30, 3, Turns::whole, random);
    for (std::size_t i = 0; i < order.size(); ++i) ASSERT_EQ(order[i] % 3, order[i / 10 * 10] % 3);
}

TEST(Interleaving, a_turn_has_as_many_operations_as_are_left_at_most) {
    stencil::Random random(2);
    const std::vector<std::int32_t> order = stencil::interleave(21, 3, Turns{4}, random);
    // Each thread has seven tags: four, and three. The second turn may follow the first.
    std::vector<int> done(3);
    for (std::size_t i = 0; i < order.size();) {
        const auto thread = static_cast<std::size_t>(order[i] % 3);
        const int turn = done[thread] == 0 ? 4 : 3;
        for (const std::size_t end = i + static_cast<std::size_t>(turn); i < end; ++i)
            ASSERT_EQ(order[i] % 3, static_cast<int>(thread));
        done[thread] += turn;
    }
}

/// Returns the depth that the matching engine `list` counts.
Depth by_engine(const std::vector<std::int32_t>& posted, const std::vector<std::int32_t>& arrived) {
    std::vector<core::Request> receives(posted.size());
    match::ListMatcher matcher;
    for (std::size_t i = 0; i < posted.size(); ++i) {
        receives[i].context = 2;
        receives[i].source = 1;
        receives[i].tag = posted[i];
        EXPECT_EQ(matcher.post(receives[i], {2, 1, posted[i]}), nullptr);
    }
    const std::uint64_t before = matcher.searches.steps();
    for (const std::int32_t tag : arrived) {
        const core::Request* receive = matcher.arrive({2, 1, tag});
        EXPECT_EQ(receive->tag, tag);
    }
    const auto steps = static_cast<double>(matcher.searches.steps() - before);
    return {steps / static_cast<double>(arrived.size()),
            static_cast<std::int64_t>(matcher.searches.deepest())};
}

TEST(SearchDepth, is_that_of_the_engine_which_searches_a_list) {
    stencil::Random random(3);
    for (const Turns turns : all_turns)
        for (const int messages : {1, 2, 63, 64, 65, 728}) {
            const auto posted = stencil::interleave(messages, 56, turns, random);
            const auto arrived = stencil::interleave(messages, 152, turns, random);
            const Depth game = stencil::search_depth(posted, arrived),
                        engine = by_engine(posted, arrived);
            ASSERT_DOUBLE_EQ(game.average, engine.average) << messages;
            ASSERT_EQ(game.deepest, engine.deepest) << messages;
        }
}

TEST(SearchDepth, of_equal_and_of_opposite_orders) {
    std::vector<std::int32_t> tags(100);
    std::iota(tags.begin(), tags.end(), 0);
    EXPECT_DOUBLE_EQ(stencil::search_depth(tags, tags).average, 1);
    const std::vector<std::int32_t> reversed(tags.rbegin(), tags.rend());
    EXPECT_DOUBLE_EQ(stencil::search_depth(tags, reversed).average, 50.5);
    EXPECT_EQ(stencil::search_depth(tags, reversed).deepest, 100);
}

// A message that comes at random from a list in random order is found in its middle. The middle is
// nearer to the front with every message: (n + 3) / 4 on average.
TEST(SearchDepth, approaches_a_quarter_of_the_list_when_all_is_random) {
    stencil::Random random(4);
    double sum = 0;
    for (int round = 0; round < 50; ++round)
        sum += stencil::search_depth(stencil::interleave(400, 400, Turns::single, random),
                                     stencil::interleave(400, 400, Turns::single, random))
                   .average;
    EXPECT_NEAR(sum / 50, 403 / 4.0, 3);
}

}  // namespace
