// SPDX-License-Identifier: BSD-3-Clause
#include "objects/contexts.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <set>
#include <thread>

namespace {

using heddle::objects::Contexts;

TEST(Contexts, are_even_and_never_those_of_the_library) {
    Contexts contexts(0, 1);
    for (int i = 0; i < 1000; ++i) {
        const std::uint32_t context = contexts.take();
        EXPECT_EQ(context % 2, 0u);
        EXPECT_GE(context, heddle::objects::first_free_context);
    }
}

TEST(Contexts, of_all_processes_and_threads_differ) {
    constexpr int processes = 5;
    constexpr int threads = 3;
    std::vector<std::unique_ptr<Contexts>> all;
    for (int rank = 0; rank < processes; ++rank)
        all.push_back(std::make_unique<Contexts>(rank, processes));
    std::mutex lock;
    std::multiset<std::uint32_t> taken;
    std::vector<std::thread> takers;
    for (int i = 0; i < processes * threads; ++i)
        takers.emplace_back([&, i] {
            for (int round = 0; round < 500; ++round) {
                Contexts& mine = *all[static_cast<std::size_t>(i % processes)];
                const std::uint32_t context = mine.take();
                if (round % 7 == 0) {
                    mine.give_back(context);
                    continue;
                }
                std::lock_guard guard(lock);
                taken.insert(context);
            }
        });
    for (std::thread& taker : takers) taker.join();
    for (const std::uint32_t context : taken) EXPECT_EQ(taken.count(context), 1u) << context;
}

TEST(Contexts, name_their_owners) {
    constexpr int processes = 7;
    for (int rank = 0; rank < processes; ++rank) {
        Contexts contexts(rank, processes);
        for (int i = 0; i < 1000; ++i) EXPECT_EQ(contexts.owner_of(contexts.take()), rank);
        EXPECT_EQ(contexts.used(), 1000u);
    }
}

TEST(Contexts, end_with_zero_and_come_back_only_if_unused) {
    constexpr int many = 1 << 26;  // enough that each process has two or three ids
    Contexts contexts(7, many);
    std::set<std::uint32_t> taken;
    for (std::uint32_t context = contexts.take(); context != 0; context = contexts.take()) {
        EXPECT_LE(context, heddle::objects::most_context);
        EXPECT_TRUE(taken.insert(context).second);
        ASSERT_LT(taken.size(), 10u);
    }
    EXPECT_GE(taken.size(), 1u);
    contexts.give_back(*taken.begin());
    EXPECT_EQ(contexts.take(), *taken.begin());
    EXPECT_EQ(contexts.take(), 0u);
}

}  // namespace
