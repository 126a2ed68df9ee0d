// SPDX-License-Identifier: BSD-3-Clause
#include "topo/placement.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "mpi.h"
#include "topo/cart.hpp"

namespace {

using namespace heddle::topo;
using Order = std::vector<std::int32_t>;

Links links_of(const Cart& cart) {
    Links links(static_cast<std::size_t>(*size_of(cart)));
    for (std::size_t node = 0; node < links.size(); ++node)
        for (const std::int32_t to : neighbours_of(cart, static_cast<std::int32_t>(node)).sources)
            if (to != MPI_PROC_NULL) links[node].push_back({to, 1});
    return links;
}

Order old_order(std::size_t count) {
    Order order(count);
    std::iota(order.begin(), order.end(), 0);
    return order;
}

TEST(Placement, keeps_the_old_order_where_all_are_near) {
    const Links links = links_of({{{4, false}, {4, false}}});
    std::vector<Location> unbound(16), together(16);
    for (Location& location : together) location.domains = {0, 1, 1, 3};
    EXPECT_FALSE(differ(unbound));
    EXPECT_FALSE(differ(together));
    EXPECT_EQ(placed(unbound, links), old_order(16));
    EXPECT_EQ(placed(together, links), old_order(16));
}

TEST(Placement, keeps_the_old_order_where_it_is_good) {
    const Links line = links_of({{{8, false}}});
    std::vector<Location> halves(8);
    for (std::size_t i = 0; i < 8; ++i) halves[i].domains[1] = i < 4 ? 1 : 0;
    EXPECT_TRUE(differ(halves));
    EXPECT_EQ(placed(halves, line), old_order(8));
}

TEST(Placement, gathers_what_was_dealt_out) {
    const Links line = links_of({{{8, false}}});
    std::vector<Location> dealt(8);
    for (std::size_t i = 0; i < 8; ++i) dealt[i].domains[1] = static_cast<std::int32_t>(i % 2);
    const Order order = placed(dealt, line);
    EXPECT_EQ(cost_of(dealt, line, old_order(8)), 14);
    EXPECT_EQ(cost_of(dealt, line, order), 2);  // one link, counted from both ends
}

TEST(Placement, nodes_come_before_packages) {
    // Eight ranks are dealt to two nodes in turn, and to two packages of each.
    const Links line = links_of({{{8, false}}});
    std::vector<Location> dealt(8);
    for (std::int32_t i = 0; i < 8; ++i)
        dealt[static_cast<std::size_t>(i)].domains = {i % 2, i / 2 % 2, -1, -1};
    const Order order = placed(dealt, line);
    const auto node = [&](std::size_t place) {
        return dealt[static_cast<std::size_t>(order[place])].domains[0];
    };
    std::int64_t cut = 0;
    for (std::size_t place = 1; place < 8; ++place) cut += node(place) != node(place - 1);
    EXPECT_EQ(cut, 1);
    EXPECT_LT(cost_of(dealt, line, order), cost_of(dealt, line, old_order(8)));
    // Equal package numbers on different nodes are not near.
    std::vector<Location> apart(2);
    apart[0].domains = {0, 0, 0, 0};
    apart[1].domains = {1, 0, 0, 0};
    EXPECT_TRUE(differ(apart));
    EXPECT_GT(cost_of(apart, links_of({{{2, false}}}), old_order(2)), 0);
}

TEST(Placement, cuts_a_plate_into_compact_pieces) {
    const Links plate = links_of({{{8, false}, {8, false}}});
    std::vector<Location> quarters(64);
    for (std::size_t i = 0; i < 64; ++i) quarters[i].domains[3] = static_cast<std::int32_t>(i / 16);
    // Rows of 8 would be cut along 3 lines of 8 links, squares along 2.
    EXPECT_EQ(cost_of(quarters, plate, old_order(64)), 2 * 24);
    EXPECT_EQ(cost_of(quarters, plate, placed(quarters, plate)), 2 * 16);
}

TEST(Placement, is_a_permutation_and_never_worse) {
    for (unsigned seed = 0; seed < 300; ++seed) {
        std::mt19937 random(seed);
        const std::size_t count = 1 + random() % 20;
        Links links(count);
        std::vector<Location> locations(count);
        for (auto& of_node : links)
            for (unsigned i = random() % 4; i > 0; --i)
                of_node.push_back({static_cast<std::int32_t>(random() % count),
                                   static_cast<std::int64_t>(random() % 5)});
        for (Location& location : locations)
            for (std::int32_t& domain : location.domains)
                domain = static_cast<std::int32_t>(random() % 4) - 1;
        Order order = placed(locations, links);
        const Order old = old_order(count);
        EXPECT_LE(cost_of(locations, links, order), cost_of(locations, links, old));
        std::sort(order.begin(), order.end());
        EXPECT_EQ(order, old);
    }
}

}  // namespace
