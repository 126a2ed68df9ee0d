// SPDX-License-Identifier: BSD-3-Clause
#include "io/plan.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace heddle::io {
namespace {

Share share(std::int64_t low, std::int64_t high, std::uint64_t run, std::int64_t unit = 4096,
            std::uint64_t nodes = 0) {
    Share share{};
    share.low = low;
    share.high = high;
    share.bytes = static_cast<std::uint64_t>(high - low);
    share.run = run;
    share.unit = unit;
    share.hints = agreed_in(Hints{});
    share.hints.cb_nodes = nodes;
    return share;
}

TEST(Plan, domains_cover_everything_once_on_borders_of_stripes) {
    std::mt19937 random(5);
    for (int round = 0; round < 1000; ++round) {
        const std::int64_t unit = std::int64_t{1000} * (1 + random() % 3000);
        const auto low = static_cast<std::int64_t>(random() % 100'000'000);
        const std::int64_t high = low + 1 + static_cast<std::int64_t>(random() % 100'000'000);
        const std::size_t ranks = 1 + random() % 9;
        const std::uint64_t nodes = random() % 12;
        const std::vector<Share> shares(ranks, share(low, high, 64, unit, nodes));
        const Domains domains(shares);
        ASSERT_GE(domains.count, 1);
        ASSERT_LE(domains.count, static_cast<std::int32_t>(ranks));
        if (nodes != 0) {
            ASSERT_LE(domains.count, static_cast<std::int32_t>(nodes));
        }
        std::int64_t at = low;
        for (std::int32_t i = 0; i < domains.count; ++i) {
            ASSERT_EQ(domains.begin_of(i), at);
            ASSERT_GT(domains.end_of(i), at);
            at = domains.end_of(i);
            if (at != high) {
                ASSERT_EQ(at % unit, 0);
            }
            ASSERT_TRUE(i == 0 || domains.rank(i) > domains.rank(i - 1));
            ASSERT_LT(domains.rank(i), static_cast<std::int32_t>(ranks));
        }
        ASSERT_EQ(at, high);
    }
}

TEST(Plan, of_nothing_has_no_domains) {
    EXPECT_EQ(Domains({share(0, 0, 64), share(7, 7, 64)}).count, 0);
}

TEST(Plan, small_pieces_that_alternate_are_for_aggregators) {
    EXPECT_FALSE(
        each_by_itself({share(0, 1 << 20, 64), share(64, (1 << 20) + 64, 64)}, Choice::automatic));
}

TEST(Plan, what_each_does_as_well_it_does_itself) {
    const std::int64_t mebibyte = 1 << 20;
    // No rank's data lie between another's.
    EXPECT_TRUE(each_by_itself({share(mebibyte, 2 * mebibyte, 64), share(0, mebibyte, 64)},
                               Choice::automatic));
    // Long runs.
    EXPECT_TRUE(each_by_itself({share(0, 9 * mebibyte, 1 << 20), share(1, 9 * mebibyte, 1 << 20)},
                               Choice::automatic));
    // A few bytes, far from each other.
    Share sparse = share(0, std::int64_t{1} << 40, 64);
    sparse.bytes = 1 << 20;
    EXPECT_TRUE(each_by_itself({sparse, sparse}, Choice::automatic));
    // An access that aggregators cannot do: atomic mode, a pipe.
    Share alone = share(0, mebibyte, 64);
    alone.alone = 1;
    EXPECT_TRUE(each_by_itself({share(0, mebibyte, 64), alone}, Choice::enable));
    EXPECT_TRUE(each_by_itself({share(0, mebibyte, 64)}, Choice::enable));
}

TEST(Plan, hints_say_otherwise) {
    const std::vector<Share> apart{share(0, 4096, 4096), share(4096, 8192, 4096)};
    const std::vector<Share> mixed{share(0, 8192, 64), share(64, 8192, 64)};
    EXPECT_FALSE(each_by_itself(apart, Choice::enable));
    EXPECT_TRUE(each_by_itself(mixed, Choice::disable));
}

}  // namespace
}  // namespace heddle::io
