// SPDX-License-Identifier: BSD-3-Clause
#include "hangs/packed.hpp"

#include <gtest/gtest.h>

namespace heddle::hangs {
namespace {

Rank example() {
    Rank rank;
    rank.rank = 3;
    rank.pid = 1234;
    rank.host = "node2";
    rank.thread_level = 3;
    rank.more_waiting = 2;
    rank.traffic = {true, 10, {9, 8}};
    Waiting& waiting = rank.waiting.emplace_back();
    waiting.thread = 77;
    waiting.version = 6;
    waiting.location = "ring.c:12";
    node::put_text(waiting.what.call, "MPI_Recv");
    waiting.what.add()->world_peer = 5;
    rank.pollers.emplace_back(waiting).location = "loop.c:3";
    Thread& thread = rank.threads.emplace_back();
    thread.thread = 77;
    thread.state = 'S';
    thread.switches = 9;
    thread.call = "MPI_Recv";
    rank.unexpected.add(2, 1, 14);
    return rank;
}

TEST(PackedRank, unpacked_says_the_same) {
    const auto rank = unpacked(packed(example()));
    ASSERT_TRUE(rank);
    EXPECT_EQ(rank->rank, 3);
    EXPECT_EQ(rank->pid, 1234);
    EXPECT_EQ(rank->host, "node2");
    EXPECT_FALSE(rank->end);
    EXPECT_EQ(rank->thread_level, 3);
    EXPECT_EQ(rank->more_waiting, 2U);
    EXPECT_EQ(rank->traffic, (Traffic{true, 10, {9, 8}}));
    ASSERT_EQ(rank->waiting.size(), 1U);
    EXPECT_EQ(rank->waiting[0].version, 6U);
    EXPECT_EQ(rank->waiting[0].location, "ring.c:12");
    EXPECT_STREQ(rank->waiting[0].what.call, "MPI_Recv");
    EXPECT_EQ(rank->waiting[0].what.listed[0].world_peer, 5);
    ASSERT_EQ(rank->pollers.size(), 1U);
    EXPECT_EQ(rank->pollers[0].location, "loop.c:3");
    EXPECT_STREQ(rank->pollers[0].what.call, "MPI_Recv");
    ASSERT_EQ(rank->threads.size(), 1U);
    EXPECT_EQ(rank->threads[0].state, 'S');
    EXPECT_EQ(rank->threads[0].switches, 9U);
    EXPECT_EQ(rank->unexpected.listed[0].messages, 1U);
    EXPECT_EQ(rank->unexpected.listed[0].tag, 14);
}

TEST(PackedRank, that_has_ended_says_how) {
    Rank rank;
    rank.end = "ended with exit code 0";
    EXPECT_EQ(unpacked(packed(rank))->end, rank.end);
}

TEST(PackedRank, cut_or_longer_is_none) {
    const std::string bytes = packed(example());
    for (std::size_t length = 0; length < bytes.size(); ++length)
        EXPECT_FALSE(unpacked(std::string_view(bytes).substr(0, length))) << length;
    EXPECT_FALSE(unpacked(bytes + "x"));
}

TEST(PackedRank, with_other_numbers_than_can_be_is_shown_all_the_same) {
    Rank rank = example();
    rank.waiting[0].what.listed[0].kind = static_cast<node::AwaitedKind>(200);
    std::fill_n(rank.waiting[0].what.call, sizeof rank.waiting[0].what.call, '\x01');
    std::fill_n(rank.unexpected.listed[0].communicator, 32, 'x');
    const auto got = unpacked(packed(rank));
    ASSERT_TRUE(got);
    EXPECT_EQ(std::string(got->unexpected.listed[0].communicator), std::string(31, 'x'));
    EXPECT_EQ(got->waiting[0].what.listed[0].kind, node::AwaitedKind::unknown);
    EXPECT_EQ(std::string(got->waiting[0].what.call), std::string(36, '?'));
}

}  // namespace
}  // namespace heddle::hangs
