// SPDX-License-Identifier: BSD-3-Clause
#include "sync/mutex.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

#include "testing/simulation.hpp"

namespace {

using heddle::testing::SimulatedWorld;
using heddle::testing::Simulation;
using heddle::testing::try_seeds;

struct Section {
    heddle::sync::BasicMutex<SimulatedWorld> mutex;
    int inside = 0;
    int passed = 0;

    void pass() {
        if (++inside != 1) Simulation::fail("two threads hold the mutex");
        Simulation::point();
        ++passed;
        --inside;
    }
};

std::string contend(std::uint64_t seeds, heddle::testing::SimulationOptions options, int threads) {
    return try_seeds(seeds, options, [&](Simulation& simulation) {
        auto section = std::make_unique<Section>();
        for (int i = 0; i < threads; ++i)
            simulation.thread([s = section.get(), i] {
                for (int round = 0; round < 6; ++round) {
                    if (i == 0 && round % 2 == 0) {
                        while (!s->mutex.try_lock()) SimulatedWorld::yield();
                    } else {
                        s->mutex.lock();
                    }
                    s->pass();
                    s->mutex.unlock();
                }
            });
        return section;
    });
}

TEST(Mutex, excludes_and_loses_no_wake_up) {
    EXPECT_EQ(contend(2000, {}, 2), "");
    EXPECT_EQ(contend(2000, {}, 4), "");
}

TEST(Mutex, loses_no_wake_up_for_ever_where_there_is_no_heavy_fence) {
    EXPECT_EQ(contend(1000, {.heavy_fences = false, .fences_available = false}, 3), "");
}

TEST(Mutex, without_its_fence_loses_a_wake_up) {
    EXPECT_NE(contend(2000, {.heavy_fences = false}, 2).find("everybody sleeps"),
              std::string::npos);
}

TEST(Mutex, of_real_threads) {
    heddle::sync::Mutex mutex;
    long sum = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&] {
            for (int round = 0; round < 20'000; ++round) {
                mutex.lock();
                ++sum;
                mutex.unlock();
            }
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(sum, 80'000);
}

}  // namespace
