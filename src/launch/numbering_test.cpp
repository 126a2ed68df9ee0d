// SPDX-License-Identifier: BSD-3-Clause
#include "launch/numbering.hpp"

#include <gtest/gtest.h>

namespace heddle::launch {
namespace {

TEST(Numbering, IsTheRankOnOneNode) {
    const Numbering numbers(2, NodeMap{7, 7, 7});
    EXPECT_TRUE(numbers.is_one_node());
    EXPECT_EQ(numbers.own(), 2);
    EXPECT_EQ(numbers.here(), 3);
    EXPECT_EQ(numbers.number_of(1), 1);
    EXPECT_EQ(numbers.rank_of(1), 1);
}

TEST(Numbering, BeginsWithTheProcessesOfTheNode) {
    const Numbering numbers(3, NodeMap{4, 9, 4, 9, 1});
    EXPECT_FALSE(numbers.is_one_node());
    EXPECT_EQ(numbers.size(), 5);
    EXPECT_EQ(numbers.here(), 2);
    EXPECT_EQ(numbers.own(), 1);
    EXPECT_EQ(numbers.number_of(1), 0);
    EXPECT_EQ(numbers.number_of(3), 1);
    EXPECT_EQ(numbers.number_of(0), 2);
    EXPECT_EQ(numbers.number_of(4), 4);
}

TEST(Numbering, NamesEveryRankOnce) {
    const Numbering numbers(0, NodeMap{1, 0, 0, 2, 1, 2, 0});
    for (std::int32_t rank = 0; rank < numbers.size(); ++rank)
        EXPECT_EQ(numbers.rank_of(numbers.number_of(rank)), rank);
}

/// Ranks of the node come first, then the others, each in order, as in lists.
TEST(Numbering, IsThatOfListsForAnyMap) {
    const NodeMap maps[] = {{0, 0, 1, 1}, {5, 6, 5, 6, 5}, {1, 0, 0, 2, 1, 2, 0}, {3, 3, 3, 4},
                            {4, 3, 3, 3}, {0, 1, 2, 3},    {0, 0, 1, 1, 0, 0, 1}, {2, 2, 0, 0}};
    for (const NodeMap& map : maps)
        for (std::int32_t own = 0; own < static_cast<std::int32_t>(map.size()); ++own) {
            const Numbering numbers(own, map);
            std::int32_t number = 0;
            for (const bool here : {true, false})
                for (std::int32_t rank = 0; rank < numbers.size(); ++rank) {
                    const auto node = map[static_cast<std::size_t>(rank)];
                    if ((node == map[static_cast<std::size_t>(own)]) != here) continue;
                    EXPECT_EQ(numbers.number_of(rank), number);
                    EXPECT_EQ(numbers.rank_of(number), rank);
                    EXPECT_EQ(numbers.node_of(number), node);
                    ++number;
                }
        }
}

}  // namespace
}  // namespace heddle::launch
