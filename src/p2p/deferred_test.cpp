// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/deferred.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <new>
#include <set>
#include <vector>

namespace {

using heddle::match::Message;
using heddle::p2p::Deferred;

/// Deferred messages, and marks of blocked ones.
class DeferredMessages : public testing::Test {
protected:
    void add(std::uint64_t stamp, std::int32_t sender, std::uint32_t context) {
        Message& message = memory_.emplace_back();
        message.stamp = stamp;
        message.peer = sender;
        message.envelope = {context, sender, 0};
        deferred.reserve();
        deferred.add(message);
    }
    std::vector<std::uint64_t> release(const std::set<std::uint64_t>& blocked) {
        deferred.mark([&](const Message& message) { return blocked.count(message.stamp) != 0; });
        std::vector<std::uint64_t> released;
        deferred.release([&](Message& message) { released.push_back(message.stamp); });
        return released;
    }

    Deferred deferred;

private:
    std::deque<Message> memory_;
};

using Stamps = std::vector<std::uint64_t>;

TEST_F(DeferredMessages, are_released_in_the_order_of_their_stamps) {
    for (const std::uint64_t stamp : {30, 10, 20}) add(stamp, 0, 2);
    EXPECT_EQ(release({}), (Stamps{10, 20, 30}));
    EXPECT_TRUE(deferred.empty());
}

TEST_F(DeferredMessages, stay_with_all_that_their_sender_sent_later_in_their_context) {
    for (const std::uint64_t stamp : {10, 20, 30}) add(stamp, 0, 2);
    EXPECT_EQ(release({20}), (Stamps{10}));
    EXPECT_TRUE(deferred.precede(0, 2, 25));
    EXPECT_FALSE(deferred.precede(0, 2, 20));
    EXPECT_EQ(release({}), (Stamps{20, 30}));
}

TEST_F(DeferredMessages, delay_no_other_context_and_no_other_sender) {
    add(10, 0, 2);
    add(20, 0, 66);  // the same modulo 64
    add(30, 1, 2);
    EXPECT_EQ(release({10}), (Stamps{20, 30}));
    EXPECT_FALSE(deferred.precede(0, 66, 40));
    EXPECT_FALSE(deferred.precede(1, 2, 40));
    EXPECT_EQ(deferred.contexts(), std::uint64_t{1} << 2);
}

TEST_F(DeferredMessages, are_not_lost_where_memory_runs_out) {
    for (const std::uint64_t stamp : {10, 20, 30}) add(stamp, 0, 2);
    deferred.mark([](const Message&) { return false; });
    EXPECT_THROW(deferred.release([](Message& message) {
        if (message.stamp == 20) throw std::bad_alloc();
    }),
                 std::bad_alloc);
    EXPECT_EQ(release({}), (Stamps{20, 30}));
}

}  // namespace
