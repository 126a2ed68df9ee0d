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
                    const Line& line = select({collective, ranks, bytes, commutative});
                    EXPECT_EQ(line.what, collective);
                    EXPECT_TRUE(commutative || !line.needs_commutative);
                    EXPECT_LE(bytes, line.most_bytes);
                    EXPECT_LE(ranks, line.most_ranks);
                }
}

TEST(Selection, has_its_lines_together_and_each_of_use) {
    const auto table = selection_table();
    for (std::size_t i = 1; i < table.size(); ++i) {
        EXPECT_TRUE(table[i].what == table[i - 1].what ||
                    static_cast<int>(table[i].what) == static_cast<int>(table[i - 1].what) + 1)
            << name_of(table[i].what);
        if (table[i].what == table[i - 1].what) {
            EXPECT_FALSE(table[i - 1].most_bytes >= table[i].most_bytes &&
                         table[i - 1].most_ranks >= table[i].most_ranks &&
                         !table[i - 1].needs_commutative)
                << "line " << i << " is never taken";
        }
    }
}

}  // namespace
}  // namespace heddle::coll
