// SPDX-License-Identifier: BSD-3-Clause
#include "core/blocks.hpp"

#include <cstring>
#include <deque>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>
#include <thread>
#include <vector>

namespace heddle::core {
namespace {

TEST(Blocks, sizes_serve_what_they_are_chosen_for) {
    for (std::size_t bytes = 1; bytes <= largest_block; ++bytes) {
        ASSERT_LT(block_size_for(bytes), block_sizes);
        ASSERT_GE(block_bytes(bytes), bytes);
        if (bytes > smallest_block) {
            ASSERT_LT(block_bytes(bytes), 2 * bytes);
        }
    }
    EXPECT_EQ(block_bytes(largest_block + 1), largest_block + 1);
}

TEST(Blocks, those_in_use_do_not_overlap) {
    std::mt19937 random(1);
    BlockDepot depot;
    BlockPool pools[2];
    struct InUse {
        std::byte* memory;
        std::size_t bytes;
        std::byte filling;
    };
    std::deque<InUse> all;
    for (int step = 0; step < 20'000; ++step) {
        BlockPool& pool = pools[random() % 2];
        if (all.empty() || random() % 400 < 200 + 200 * (step / 1000 % 2 == 0)) {
            const std::size_t bytes = 1 + random() % (largest_block + 100);
            const auto filling = static_cast<std::byte>(step);
            std::byte* memory = pool.take(bytes, depot);
            ASSERT_NE(memory, nullptr);
            std::memset(memory, static_cast<int>(filling), bytes);
            all.push_back({memory, bytes, filling});
        } else {
            const std::size_t at = random() % all.size();
            const InUse one = all[at];
            all.erase(all.begin() + static_cast<std::ptrdiff_t>(at));
            for (std::size_t i = 0; i < one.bytes; ++i) ASSERT_EQ(one.memory[i], one.filling);
            pool.give(one.memory, one.bytes, depot);
        }
        if (step % 5000 == 4999) pool.drain(depot);
    }
    for (const InUse& one : all) pools[0].give(one.memory, one.bytes, depot);
}

TEST(Blocks, what_one_thread_gives_back_another_takes_again) {
    BlockDepot depot;
    BlockPool taking, giving;
    constexpr std::size_t bytes = 256;
    std::set<std::byte*> seen;
    const std::size_t at_once = 4 * batch_of(block_size_for(bytes));
    for (int round = 0; round < 100; ++round) {
        std::vector<std::byte*> taken;
        for (std::size_t i = 0; i < at_once; ++i) taken.push_back(taking.take(bytes, depot));
        for (std::byte* memory : taken) giving.give(memory, bytes, depot);
        seen.insert(taken.begin(), taken.end());
    }
    // Only the blocks that the giving thread keeps cannot come back.
    EXPECT_LE(seen.size(), at_once + 3 * batch_of(block_size_for(bytes)));
}

TEST(Blocks, threads_share_a_depot) {
    BlockDepot depot;
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&depot, t] {
            BlockPool pool;
            std::mt19937 random(static_cast<unsigned>(t));
            for (int round = 0; round < 200; ++round) {
                std::vector<std::pair<std::byte*, std::size_t>> taken;
                for (int i = 0; i < 100; ++i) {
                    const std::size_t bytes = 1 + random() % 1000;
                    taken.emplace_back(pool.take(bytes, depot), bytes);
                    std::memset(taken.back().first, t, bytes);
                }
                for (const auto& [memory, size] : taken) {
                    for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(memory[i], std::byte(t));
                    pool.give(memory, size, depot);
                }
                if (round % 10 == 0) pool.drain(depot);
            }
        });
}

}  // namespace
}  // namespace heddle::core
