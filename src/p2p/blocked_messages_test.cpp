// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/blocked_messages.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace {

using heddle::node::BlockedNotice;
using heddle::p2p::BlockedMessages;

constexpr std::uint32_t places = BlockedNotice::places;

TEST(BlockedMessages, precede_what_was_sent_later_in_their_context) {
    BlockedNotice notice{};
    BlockedMessages blocked;
    EXPECT_FALSE(notice.may_precede(2, 100));
    blocked.add(notice, 10, 2);
    EXPECT_TRUE(notice.may_precede(2, 11));
    EXPECT_FALSE(notice.may_precede(2, 10));
    EXPECT_FALSE(notice.may_precede(66, 11)) << "the same modulo 64";
    EXPECT_FALSE(blocked.remove(notice, 10, 2));
    EXPECT_FALSE(notice.may_precede(2, 11));
}

TEST(BlockedMessages, the_earliest_of_a_context_counts) {
    BlockedNotice notice{};
    BlockedMessages blocked;
    for (const std::uint64_t stamp : {20, 10, 30}) blocked.add(notice, stamp, 2);
    EXPECT_FALSE(blocked.remove(notice, 10, 2));
    EXPECT_FALSE(notice.may_precede(2, 20));
    EXPECT_TRUE(notice.may_precede(2, 21));
}

TEST(BlockedMessages, contexts_without_a_place_of_their_own_share_one) {
    BlockedNotice notice{};
    BlockedMessages blocked;
    for (std::uint32_t context = 0; context < places + 2; ++context)
        blocked.add(notice, 10 + context, context);
    EXPECT_FALSE(notice.may_precede(0, 10));
    EXPECT_TRUE(notice.may_precede(places, 100));
    EXPECT_TRUE(notice.may_precede(1000, 100)) << "it may be one of those that share";
    std::vector<std::uint32_t> named;
    EXPECT_FALSE(notice.each([&](std::uint32_t context) { named.push_back(context); }));
    EXPECT_EQ(named.size(), places);
    for (std::uint32_t context = 0; context < places + 2; ++context)
        EXPECT_FALSE(blocked.remove(notice, 10 + context, context));
    EXPECT_FALSE(notice.may_precede(1000, 100));
    // Places are free again.
    for (std::uint32_t context = 100; context < 100 + places; ++context)
        blocked.add(notice, 10, context);
    EXPECT_FALSE(notice.may_precede(1000, 100));
}

TEST(BlockedMessages, who_watches_is_told_once) {
    BlockedNotice notice{};
    BlockedMessages blocked;
    blocked.add(notice, 10, 2);
    blocked.add(notice, 11, 4);
    notice.watch();
    EXPECT_TRUE(blocked.remove(notice, 10, 2));
    EXPECT_FALSE(blocked.remove(notice, 11, 4));
}

}  // namespace
