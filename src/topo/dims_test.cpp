// SPDX-License-Identifier: BSD-3-Clause
#include "topo/dims.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <tuple>
#include <vector>

namespace {

using heddle::topo::balanced_factors;
using List = std::vector<std::int32_t>;

/// Finds every non-increasing list of `parts` factors of `number`.
void all_lists(std::int32_t number, std::int32_t parts, List& list, std::vector<List>& all) {
    if (parts == 0) {
        if (number == 1) all.push_back(list);
        return;
    }
    for (std::int32_t factor = 1; factor <= number; ++factor) {
        if (number % factor != 0 || (!list.empty() && factor > list.back())) continue;
        list.push_back(factor);
        all_lists(number / factor, parts - 1, list, all);
        list.pop_back();
    }
}

List exhaustive(std::int32_t number, std::int32_t parts) {
    List list;
    std::vector<List> all;
    all_lists(number, parts, list, all);
    const auto order = [](const List& factors) {
        return std::make_tuple(factors.front() - factors.back(), factors);
    };
    List best = all.front();
    for (const List& candidate : all)
        if (order(candidate) < order(best)) best = candidate;
    return best;
}

TEST(Dims, agree_with_exhaustive_search) {
    for (std::int32_t parts = 1; parts <= 5; ++parts)
        for (std::int32_t number = 1; number <= 400; ++number)
            ASSERT_EQ(balanced_factors(number, parts), exhaustive(number, parts))
                << number << " in " << parts;
}

TEST(Dims, of_many_dimensions_end_in_ones) {
    List expected(1000, 1);
    expected[0] = 3;
    expected[1] = expected[2] = 2;
    EXPECT_EQ(balanced_factors(12, 1000), expected);
}

TEST(Dims, of_large_numbers) {
    EXPECT_EQ(balanced_factors(0x7fffffff, 2), (List{0x7fffffff, 1}));  // a prime
    EXPECT_EQ(balanced_factors(1 << 30, 3), (List{1024, 1024, 1024}));
    EXPECT_EQ(balanced_factors(46340 * 46340, 2), (List{46340, 46340}));
    for (std::int32_t parts = 1; parts <= 40; ++parts) {  // that number has the most divisors
        std::int64_t product = 1;
        for (const std::int32_t factor : balanced_factors(2095133040, parts)) product *= factor;
        EXPECT_EQ(product, 2095133040) << parts;
    }
}

}  // namespace
