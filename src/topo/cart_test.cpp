// SPDX-License-Identifier: BSD-3-Clause
#include "topo/cart.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <utility>

#include "mpi.h"

namespace {

using namespace heddle::topo;

Cart random_cart(std::mt19937& random) {
    Cart cart;
    for (unsigned d = random() % 5; d > 0; --d)
        cart.dimensions.push_back({static_cast<std::int32_t>(1 + random() % 4), random() % 2 == 0});
    return cart;
}

TEST(Cart, ranks_run_fastest_in_the_last_dimension) {
    for (unsigned seed = 0; seed < 50; ++seed) {
        std::mt19937 random(seed);
        const Cart cart = random_cart(random);
        std::vector<std::int32_t> expected(cart.dimensions.size(), 0);
        for (std::int32_t rank = 0; rank < *size_of(cart); ++rank) {
            EXPECT_EQ(coordinates_of(cart, rank), expected);
            EXPECT_EQ(rank_at(cart, expected.data()), rank);
            for (std::size_t d = expected.size(); d-- > 0;) {
                EXPECT_EQ(coordinate_of(cart, rank, d), coordinates_of(cart, rank)[d]);
                if (++expected[d] < cart.dimensions[d].size) break;
                expected[d] = 0;
            }
        }
    }
}

/// Walks one step after the other.
std::int32_t walked(const Cart& cart, std::int32_t rank, std::size_t d, std::int64_t distance) {
    auto at = coordinates_of(cart, rank);
    for (; distance != 0; distance += distance < 0 ? 1 : -1) {
        at[d] += distance < 0 ? -1 : 1;
        const Dimension& dimension = cart.dimensions[d];
        if (at[d] >= 0 && at[d] < dimension.size) continue;
        if (!dimension.periodic) return MPI_PROC_NULL;
        at[d] = at[d] < 0 ? dimension.size - 1 : 0;
    }
    return *rank_at(cart, at.data());
}

TEST(Cart, shifts_like_single_steps) {
    for (unsigned seed = 0; seed < 50; ++seed) {
        std::mt19937 random(seed);
        const Cart cart = random_cart(random);
        for (std::int32_t rank = 0; rank < *size_of(cart); ++rank)
            for (std::size_t d = 0; d < cart.dimensions.size(); ++d)
                for (std::int64_t distance = -9; distance <= 9; ++distance)
                    EXPECT_EQ(shifted(cart, rank, d, distance), walked(cart, rank, d, distance));
    }
}

TEST(Cart, wraps_at_any_distance) {
    const Cart ring{{{5, true}}}, line{{{5, false}}};
    const int far = std::numeric_limits<int>::min();
    EXPECT_EQ(shifted(ring, 4, 0, far), 1);  // 4 - 2^31 = 1 modulo 5
    EXPECT_EQ(shifted(line, 4, 0, far), MPI_PROC_NULL);
    EXPECT_EQ(rank_at(ring, &far), 2);
    EXPECT_EQ(rank_at(line, &far), std::nullopt);
}

TEST(Cart, knows_when_it_is_too_large) {
    EXPECT_EQ(size_of({{{1 << 15, false}, {1 << 15, false}}}), 1 << 30);
    EXPECT_EQ(size_of({{{1 << 16, false}, {1 << 15, false}}}), std::nullopt);
    EXPECT_EQ(size_of({}), 1);
}

TEST(Cart, subgrids_cover_it_once) {
    for (unsigned seed = 0; seed < 50; ++seed) {
        std::mt19937 random(seed);
        const Cart cart = random_cart(random);
        int remain[4];
        for (int& stays : remain) stays = random() % 2 == 0 ? 7 : 0;
        std::vector<int> seen(static_cast<std::size_t>(*size_of(cart)), 0);
        for (std::int32_t rank = 0; rank < *size_of(cart); ++rank) {
            const Subgrid part = subgrid(cart, rank, remain);
            ASSERT_EQ(part.ranks.size(), static_cast<std::size_t>(*size_of(part.cart)));
            for (std::size_t i = 0; i < part.ranks.size(); ++i) {
                if (part.ranks[i] == rank) ++seen[static_cast<std::size_t>(rank)];
                std::vector<std::int32_t> inside;
                const auto coordinates = coordinates_of(cart, part.ranks[i]);
                for (std::size_t d = 0; d < coordinates.size(); ++d) {
                    if (remain[d] != 0)
                        inside.push_back(coordinates[d]);
                    else
                        EXPECT_EQ(coordinates[d], coordinate_of(cart, rank, d));
                }
                EXPECT_EQ(rank_at(part.cart, inside.data()), static_cast<std::int32_t>(i));
            }
        }
        EXPECT_EQ(seen, std::vector<int>(seen.size(), 1));
    }
}

TEST(Cart, messages_meet_along_the_right_edges) {
    for (unsigned seed = 0; seed < 50; ++seed) {
        std::mt19937 random(seed);
        const Cart cart = random_cart(random);
        const auto size = static_cast<std::size_t>(*size_of(cart));
        // Messages from a to b, in order: the block of the sender, then that of the receiver.
        std::vector<std::vector<std::size_t>> sent(size * size), received(size * size);
        for (std::size_t rank = 0; rank < size; ++rank) {
            const Neighbours edges = neighbours_of(cart, static_cast<std::int32_t>(rank));
            for (std::size_t i = 0; i < edges.destinations.size(); ++i) {
                const std::int32_t to = edges.destinations[i];
                if (to != MPI_PROC_NULL)
                    sent[rank * size + static_cast<std::size_t>(to)].push_back(i);
                const std::size_t block = edges.receive_order(i);
                const std::int32_t from = edges.sources[block];
                if (from != MPI_PROC_NULL)
                    received[static_cast<std::size_t>(from) * size + rank].push_back(block);
            }
        }
        for (std::size_t pair = 0; pair < size * size; ++pair) {
            ASSERT_EQ(sent[pair].size(), received[pair].size());
            for (std::size_t k = 0; k < sent[pair].size(); ++k)
                EXPECT_EQ(sent[pair][k], received[pair][k] ^ 1);  // same dimension, other direction
        }
    }
}

}  // namespace
