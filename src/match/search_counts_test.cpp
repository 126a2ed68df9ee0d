// SPDX-License-Identifier: BSD-3-Clause
#include "match/search_counts.hpp"

#include <gtest/gtest.h>

namespace {

using namespace heddle;
using tool::CounterIndex;

TEST(SearchCounts, tell_depths_by_powers_of_two) {
    match::SearchCounts counts;
    for (const unsigned steps : {0U, 1U, 1U, 2U, 3U, 4U, 5U, 8U, 32'768U, 32'769U, 1'000'000U})
        counts.note(2, steps);
    const match::Searching& counters = counts.total;
    EXPECT_EQ(counters.searches_to_1.value(), 2U);
    EXPECT_EQ(counters.searches_to_2.value(), 1U);
    EXPECT_EQ(counters.searches_to_4.value(), 2U);
    EXPECT_EQ(counters.searches_to_8.value(), 2U);
    EXPECT_EQ(counters.searches_to_32768.value(), 1U);
    EXPECT_EQ(counters.searches_beyond.value(), 2U);
    tool::Values sums;
    sums += counts.total;
    match::add_shallow_searches(sums);
    EXPECT_EQ(sums[tool::CounterIndex::searches], 10U) << "looking at nothing is no search";
    EXPECT_EQ(sums[tool::CounterIndex::search_steps], 2U + 2 + 7 + 13 + 65'537 + 1'000'000);
    EXPECT_EQ(sums[tool::CounterIndex::deepest_search], 1'000'000U);
}

std::uint64_t steps_in(match::SearchCounts& counts, std::uint32_t context) {
    tool::Values sums;
    counts.add_to(sums, context);
    match::add_shallow_searches(sums);
    return sums[CounterIndex::search_steps];
}

TEST(SearchCounts, tell_contexts_apart) {
    match::SearchCounts counts;
    constexpr std::uint32_t contexts = 100;
    for (std::uint32_t round = 1; round <= 3; ++round)
        for (std::uint32_t context = 0; context < contexts; ++context)
            counts.note(context, round * (context + 1));
    for (std::uint32_t context = 0; context < contexts; ++context)
        EXPECT_EQ(steps_in(counts, context), 6 * (context + 1)) << context;
    EXPECT_EQ(counts.steps(), 6U * contexts * (contexts + 1) / 2);
    EXPECT_EQ(counts.deepest(), 3U * contexts);
    EXPECT_EQ(steps_in(counts, contexts), 0U) << "never searched for";
}

TEST(SearchCounts, forget_a_context_and_begin_anew) {
    match::SearchCounts counts;
    counts.note(6, 5);
    counts.note(22, 7);  // has the same place
    counts.forget(6);
    counts.forget(38);  // never searched for
    EXPECT_EQ(steps_in(counts, 6), 0U);
    EXPECT_EQ(steps_in(counts, 22), 7U);
    counts.note(22, 1);
    counts.forget(22);
    counts.note(22, 2);
    counts.note(6, 1);
    EXPECT_EQ(steps_in(counts, 22), 2U);
    EXPECT_EQ(steps_in(counts, 6), 1U);
    EXPECT_EQ(counts.steps(), 5U + 7 + 1 + 2 + 1) << "what was in all is not forgotten";
}

TEST(SearchCounts, add_up_times) {
    match::SearchCounts counts;
    counts.add_time(2, 30);
    counts.add_time(4, 12);
    tool::Values sums;
    counts.add_to(sums, 4);
    EXPECT_EQ(sums[CounterIndex::match_time], 12U);
    EXPECT_EQ(counts.total.match_time.value(), 42U);
}

}  // namespace
