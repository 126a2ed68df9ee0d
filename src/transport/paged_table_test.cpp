// SPDX-License-Identifier: BSD-3-Clause
#include "transport/paged_table.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <thread>

namespace heddle::transport {
namespace {

TEST(PagedTable, an_entry_is_there_with_its_page) {
    PagedTable<std::unique_ptr<int>> table(200);
    EXPECT_EQ(table.find(70), nullptr);
    table.need(70) = std::make_unique<int>(7);
    ASSERT_NE(table.find(70), nullptr);
    EXPECT_EQ(**table.find(70), 7);
    EXPECT_EQ(*table.find(127), nullptr);
    EXPECT_EQ(table.find(128), nullptr);
    EXPECT_EQ(&table.need(70), table.find(70));
    table.need(199) = std::make_unique<int>(8);
    EXPECT_EQ(**table.find(199), 8);
}

TEST(PagedTable, numbers_beyond_its_pages_are_not_found) {
    const PagedTable<int> table(64), empty(0);
    EXPECT_EQ(table.find(64), nullptr);
    EXPECT_EQ(table.find(1 << 30), nullptr);
    EXPECT_EQ(empty.find(0), nullptr);
}

TEST(PagedTable, readers_see_whole_pages) {
    PagedTable<std::atomic<int>> table(1 << 14);
    std::thread writer([&] {
        for (int number = 0; number < 1 << 14; number += 64)
            table.need(static_cast<std::size_t>(number))
                .store(number + 1, std::memory_order_release);
    });
    for (int number = 0; number < 1 << 14;) {
        const std::atomic<int>* entry = table.find(static_cast<std::size_t>(number));
        const int seen = entry == nullptr ? 0 : entry->load(std::memory_order_acquire);
        EXPECT_TRUE(seen == 0 || seen == number + 1);
        if (seen != 0) number += 64;
    }
    writer.join();
}

}  // namespace
}  // namespace heddle::transport
