// SPDX-License-Identifier: BSD-3-Clause
#include "launch/regular_map.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "launch/node_map.hpp"

namespace heddle::launch {
namespace {

/// Returns the nodes one after the other, with the ranks of each.
std::vector<std::vector<std::int32_t>> listed(const NodeMap& map) {
    std::vector<std::vector<std::int32_t>> ranks(
        static_cast<std::size_t>(*std::max_element(map.begin(), map.end()) - map.front()) + 1);
    for (std::size_t rank = 0; rank < map.size(); ++rank)
        ranks[static_cast<std::size_t>(map[rank] - map.front())].push_back(
            static_cast<std::int32_t>(rank));
    return ranks;
}

void expect_same(const RegularMap& regular, const NodeMap& map) {
    const auto ranks = listed(map);
    ASSERT_EQ(regular.nodes, static_cast<std::int32_t>(ranks.size()));
    for (std::int32_t node = 0; node < regular.nodes; ++node) {
        const auto& there = ranks[static_cast<std::size_t>(node)];
        ASSERT_EQ(regular.size_of(node), static_cast<std::int32_t>(there.size()));
        for (std::int32_t place = 0; place < regular.size_of(node); ++place) {
            const std::int32_t rank = there[static_cast<std::size_t>(place)];
            EXPECT_EQ(regular.rank_at(node, place), rank);
            EXPECT_EQ(regular.place_of(rank), place);
            EXPECT_EQ(regular.node_of(rank), node);
        }
    }
}

TEST(RegularMap, blocks_turns_and_remainders_give_the_same_as_lists) {
    for (int nodes = 1; nodes <= 5; ++nodes)
        for (int each = 1; each <= 4; ++each)
            for (int ranks = 1; ranks <= 30; ++ranks) {
                NodeMap map;
                for (int rank = 0; rank < ranks; ++rank) map.push_back(7 + rank / each % nodes);
                const auto regular = RegularMap::of(map);
                ASSERT_TRUE(regular) << nodes << " nodes, " << each << " each, " << ranks;
                expect_same(*regular, map);
            }
}

TEST(RegularMap, other_maps_are_none) {
    EXPECT_FALSE(RegularMap::of(NodeMap{}));
    EXPECT_FALSE(RegularMap::of(NodeMap{0, 0, 1, 2, 2}));
    EXPECT_FALSE(RegularMap::of(NodeMap{0, 1, 1, 0}));
    EXPECT_FALSE(RegularMap::of(NodeMap{1, 0, 1, 0}));
    EXPECT_FALSE(RegularMap::of(NodeMap{0, 2, 0, 2}));
}

}  // namespace
}  // namespace heddle::launch
