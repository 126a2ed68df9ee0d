// SPDX-License-Identifier: BSD-3-Clause
#include "sync/lone_thread.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "sync/mutex.hpp"
#include "testing/simulation.hpp"

namespace {

using heddle::testing::SimulatedWorld;
using heddle::testing::Simulation;
using heddle::testing::SimulationOptions;
using heddle::testing::try_seeds;

/// A section of a thread that is alone, or else has the mutex.
struct World {
    heddle::sync::BasicLoneThread<SimulatedWorld> lone_thread;
    heddle::sync::BasicMutex<SimulatedWorld> mutex;
    int inside = 0, passages = 0, alone = 0;

    void pass() {
        const bool is_alone = lone_thread.enter();
        if (!is_alone) mutex.lock();
        if (++inside != 1) Simulation::fail("two threads are in the section");
        ++passages;
        alone += is_alone;
        Simulation::point();
        --inside;
        if (is_alone)
            lone_thread.exit();
        else
            mutex.unlock();
    }
    void live(int rounds) {
        lone_thread.arrive();
        for (int i = 0; i < rounds; ++i) pass();
        lone_thread.leave();
    }
};

/// Threads that come and go, most of them for a short while.
std::string crowd(std::uint64_t seeds, SimulationOptions options, int threads) {
    return try_seeds(seeds, options, [&](Simulation& simulation) {
        auto world = std::make_unique<World>();
        for (int thread = 0; thread < threads; ++thread)
            simulation.thread([w = world.get(), thread, &simulation] {
                for (int life = 0; life < 3; ++life) {
                    for (unsigned i = simulation.random(60); i > 0; --i) SimulatedWorld::yield();
                    w->live(thread == 0 ? 20 : 3);
                }
            });
        return world;
    });
}

TEST(LoneThread, is_alone_or_has_the_mutex) {
    EXPECT_EQ(crowd(3000, {}, 2), "");
    EXPECT_EQ(crowd(2000, {}, 3), "");
}

TEST(LoneThread, is_never_alone_where_there_is_no_heavy_fence) {
    EXPECT_EQ(crowd(1000, {.heavy_fences = false, .fences_available = false}, 3), "");
}

TEST(LoneThread, without_its_fence_lets_two_in) {
    EXPECT_NE(crowd(5000, {.heavy_fences = false}, 2).find("two threads are in the section"),
              std::string::npos);
}

TEST(LoneThread, is_alone_again_when_the_others_have_gone) {
    World world;  // no simulation: one thread
    world.lone_thread.arrive();
    world.pass();
    EXPECT_EQ(world.alone, 1);
    world.lone_thread.arrive();
    world.pass();
    EXPECT_EQ(world.alone, 1) << "there are two";
    world.lone_thread.leave();
    world.pass();
    EXPECT_EQ(world.alone, 2);
    EXPECT_EQ(world.passages, 3);
}

struct CountedWorld : SimulatedWorld {
    static inline int fences = 0;
    struct Fence : SimulatedWorld::Fence {
        static void heavy() noexcept { ++fences; }
    };
};

TEST(LoneThread, a_third_thread_passes_no_fence_until_one_was_alone_again) {
    heddle::sync::BasicLoneThread<CountedWorld> lone_thread;
    CountedWorld::fences = 0;
    lone_thread.arrive();
    EXPECT_EQ(CountedWorld::fences, 0);
    lone_thread.arrive();
    EXPECT_EQ(CountedWorld::fences, 1);
    for (int i = 0; i < 10; ++i) {
        lone_thread.arrive();
        EXPECT_FALSE(lone_thread.enter());
        lone_thread.leave();
    }
    lone_thread.leave();
    EXPECT_EQ(lone_thread.threads(), 1U);
    lone_thread.arrive();
    EXPECT_EQ(CountedWorld::fences, 1) << "nobody has been alone";
    lone_thread.leave();
    EXPECT_TRUE(lone_thread.enter());
    lone_thread.exit();
    lone_thread.arrive();
    EXPECT_EQ(CountedWorld::fences, 2);
}

TEST(LoneThread, of_real_threads) {
    heddle::sync::LoneThread lone_thread;
    heddle::sync::Mutex mutex;
    long sum = 0;
    const auto live = [&](int rounds) {
        lone_thread.arrive();
        for (int i = 0; i < rounds; ++i) {
            const bool alone = lone_thread.enter();
            if (!alone) mutex.lock();
            ++sum;
            if (alone)
                lone_thread.exit();
            else
                mutex.unlock();
        }
        lone_thread.leave();
    };
    constexpr int lives = 300, rounds = 200;
    std::thread long_lived([&] { live(lives * rounds); });
    std::vector<std::thread> others;
    for (int thread = 0; thread < 2; ++thread)
        others.emplace_back([&] {
            for (int i = 0; i < lives; ++i) {
                live(rounds);
                std::this_thread::yield();
            }
        });
    long_lived.join();
    for (std::thread& thread : others) thread.join();
    EXPECT_EQ(sum, 3L * lives * rounds);
}

}  // namespace
