// SPDX-License-Identifier: BSD-3-Clause
#include "objects/group.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "objects/process.hpp"
#include "testing/job.hpp"

namespace {

using namespace heddle::objects;

bool holds(const Members& group, std::int32_t process) {
    return std::find(group.begin(), group.end(), process) != group.end();
}

Members random_members(std::mt19937& random) {
    Members all(12);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int32_t>(i);
    std::shuffle(all.begin(), all.end(), random);
    all.resize(random() % (all.size() + 1));
    return all;
}

TEST(Group, algebra_agrees_with_the_rule) {
    for (unsigned seed = 0; seed < 300; ++seed) {
        std::mt19937 random(seed);
        const Members a = random_members(random);
        const Members b = random_members(random);
        Members both = a;
        Members common;
        Members rest;
        for (const auto process : b)
            if (!holds(a, process)) both.push_back(process);
        for (const auto process : a) (holds(b, process) ? common : rest).push_back(process);
        EXPECT_EQ(united(a, b), both) << "seed " << seed;
        EXPECT_EQ(intersected(a, b), common) << "seed " << seed;
        EXPECT_EQ(without(a, b), rest) << "seed " << seed;
        const Members ranks = ranks_of(a, b);
        for (std::size_t i = 0; i < a.size(); ++i) {
            if (holds(b, a[i]))
                EXPECT_EQ(b[static_cast<std::size_t>(ranks[i])], a[i]) << "seed " << seed;
            else
                EXPECT_EQ(ranks[i], MPI_UNDEFINED) << "seed " << seed;
        }
        Members sorted_a = a;
        Members sorted_b = b;
        std::sort(sorted_a.begin(), sorted_a.end());
        std::sort(sorted_b.begin(), sorted_b.end());
        const int expected = a == b ? MPI_IDENT : sorted_a == sorted_b ? MPI_SIMILAR : MPI_UNEQUAL;
        EXPECT_EQ(compared(a, b), expected) << "seed " << seed;
    }
}

/// A group as MPI_Group_incl makes it of MPI_COMM_WORLD's ranks, and whether it has a table.
void expect_table(Process& process, const Members& ranks, bool has_table) {
    Members processes;
    for (const std::int32_t rank : ranks) processes.push_back(process.numbers.number_of(rank));
    Group& group = make_group(process, processes);
    EXPECT_TRUE(std::ranges::equal(group.processes, processes));
    EXPECT_EQ(!group.own.empty(), has_table);
    const auto at = std::ranges::find(processes, process.number());
    EXPECT_EQ(
        group.rank,
        at == processes.end() ? MPI_UNDEFINED : static_cast<std::int32_t>(at - processes.begin()));
    drop(process, group);
}

TEST(Group, of_ranks_that_follow_each_other_has_no_table) {
    using Nodes = heddle::launch::NodeMap;
    for (const Nodes& nodes :
         {Nodes{0, 0, 0, 0}, Nodes{0, 0, 1, 1}, Nodes{0, 1, 0, 1}, Nodes{1, 0, 0, 2}})
        heddle::testing::run_job({.nodes = nodes}, [](int, int) {
            Process& process = *attached_thread()->process;
            for (const Members& ranks :
                 {Members{0, 1, 2, 3}, Members{1, 2}, Members{2, 3}, Members{3}})
                expect_table(process, ranks, false);
            for (const Members& ranks :
                 {Members{3, 2}, Members{0, 2}, Members{0, 1, 3}, Members{2, 3, 0}})
                expect_table(process, ranks, true);
            expect_table(process, {}, false);
        });
}

}  // namespace
