// SPDX-License-Identifier: BSD-3-Clause
#include "coll/select.hpp"

#include <gtest/gtest.h>

namespace heddle::coll {
namespace {

TEST(Selection, finds_a_line_for_every_call) {
    for (int what = 1; what <= static_cast<int>(Collective::exscan); ++what)
        for (std::int32_t ranks : {1, 2, 3, 8, 9, 64, 65, 1 << 20})
            for (std::uint64_t bytes :
                 {std::uint64_t{0}, std::uint64_t{1} << 12, ~std::uint64_t{0}})
                for (bool commutative : {false, true}) {
                    const auto collective = static_cast<Collective>(what);
                    const Needs has = commutative ? Needs::commutative : Needs::nothing;
                    const Algorithm& algorithm = select({collective, ranks, bytes, has}, {});
                    EXPECT_EQ(algorithm.what, collective);
                    EXPECT_TRUE(includes(has, algorithm.needs));
                }
}

TEST(Selection, has_its_lines_together_and_each_of_use) {
    const auto table = selection_table();
    for (std::size_t i = 1; i < table.size(); ++i) {
        const Line &before = table[i - 1], &line = table[i];
        const auto what = static_cast<int>(line.algorithm->what);
        const auto what_before = static_cast<int>(before.algorithm->what);
        EXPECT_TRUE(what == what_before || what == what_before + 1) << "line " << i;
        const bool covers = what == what_before && before.most_bytes >= line.most_bytes &&
            before.most_ranks >= line.most_ranks &&
            includes(line.algorithm->needs | line.calls, before.algorithm->needs | before.calls);
        EXPECT_FALSE(covers) << "line " << i << " is never taken";
    }
}

TEST(Selection, takes_every_algorithm_somewhere) {
    for (const Algorithm& algorithm : algorithms()) {
        bool taken = false;
        for (const Line& line : selection_table()) taken = taken || line.algorithm == &algorithm;
        EXPECT_TRUE(taken) << name_of(algorithm.what) << " " << algorithm.name;
    }
}

TEST(Selection, takes_what_a_knob_forces_where_it_is_possible) {
    tool::Settings settings;
    using Knob = tool::Choice<decltype(settings.coll_reduce)>;
    ASSERT_TRUE(Knob::parse("binomial", settings.coll_reduce));
    const Algorithm* binomial = forced(Collective::reduce, settings);
    ASSERT_NE(binomial, nullptr);
    EXPECT_EQ(binomial->name, "binomial");
    const std::uint64_t large = 1 << 20;
    EXPECT_EQ(&select({Collective::reduce, 4, large, Needs::commutative}, settings), binomial);
    EXPECT_EQ(select({Collective::reduce, 4, large, Needs::nothing}, settings).name, "scattered");
    EXPECT_EQ(forced(Collective::scan, settings), nullptr);
}

}  // namespace
}  // namespace heddle::coll
