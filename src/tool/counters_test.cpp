// SPDX-License-Identifier: BSD-3-Clause
#include "tool/counters.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <thread>

#include "tool/events.hpp"

namespace {

using namespace heddle::tool;

TEST(Counter, adds_and_subtracts) {
    Counter counter;
    counter.add();
    counter.add(1ULL << 40);
    counter.subtract();
    EXPECT_EQ(counter.value(), 1ULL << 40);
    counter.raise_to(7);
    EXPECT_EQ(counter.value(), 1ULL << 40);
    counter.raise_to(1ULL << 41);
    EXPECT_EQ(counter.value(), 1ULL << 41);
}

TEST(Counter, is_read_while_its_writer_counts) {
    constexpr std::uint64_t most = 100'000;
    Counter counter;
    std::thread writer([&] {
        for (std::uint64_t i = 0; i < most; ++i) counter.add();
    });
    for (std::uint64_t seen = 0; seen < most;) {
        const std::uint64_t now = counter.value();
        ASSERT_GE(now, seen);
        seen = now;
    }
    writer.join();
    EXPECT_EQ(counter.value(), most);
}

TEST(Values, add_counts_up_and_keep_the_most) {
    counters::Matching here, there;
    here.unexpected_messages.add(3);
    there.unexpected_messages.add(4);
    here.most_unexpected_queue.raise_to(2);
    there.most_unexpected_queue.raise_to(1);
    Values values;
    values += here;
    values += there;
    EXPECT_EQ(values[CounterIndex::unexpected_messages], 7U);
    EXPECT_EQ(values[CounterIndex::most_unexpected_queue], 2U);
    EXPECT_EQ(values[CounterIndex::sent_messages], 0U);
}

TEST(CounterTable, names_each_line_once_at_its_index) {
    std::set<std::string> names;
    for (const CounterInfo& counter : counter_table()) {
        EXPECT_TRUE(names.insert(counter.name).second) << counter.name;
        EXPECT_NE(*counter.doc, '\0');
        EXPECT_LT(static_cast<std::size_t>(counter.category), category_table().size());
    }
    EXPECT_EQ(names.size(), counter_count);
    const CounterInfo& sent = counter_table()[static_cast<std::size_t>(CounterIndex::sent_bytes)];
    EXPECT_STREQ(sent.name, "sent_bytes");
    EXPECT_STREQ(sent.unit, "bytes");
    EXPECT_EQ(sent.category, Category::sending);
    EXPECT_EQ(sent.kind, CounterClass::counter);
}

TEST(Events, say_no_more_than_there_is_room_for) {
    EXPECT_LE(event_table().size(), 32U);  // they are bits of listened_events
    for (const EventInfo& event : event_table())
        EXPECT_LE(static_cast<std::size_t>(event.elements), Elements{}.size()) << event.name;
}

}  // namespace
