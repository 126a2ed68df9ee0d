// SPDX-License-Identifier: BSD-3-Clause
#include "sync/biased_lock.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "testing/simulation.hpp"

namespace {

using heddle::testing::SimulatedWorld;
using heddle::testing::Simulation;
using heddle::testing::SimulationOptions;
using heddle::testing::try_seeds;

using Lock = heddle::sync::BasicBiasedLock<SimulatedWorld>;

struct World {
    struct Section {
        Lock lock;
        int inside = 0;

        void pass(Lock::Token& token) {
            const auto way = lock.lock(token);
            if (++inside != 1) Simulation::fail("two threads are in the section");
            Simulation::point();
            --inside;
            lock.unlock(token, way);
        }
    };
    std::array<Section, 2> sections;
    std::array<Lock::Token, 3> tokens;
};

/// One thread uses a lock often enough to get the bias; others come now and then.
std::string revoke(std::uint64_t seeds, SimulationOptions options, int others) {
    return try_seeds(seeds, options, [&](Simulation& simulation) {
        auto world = std::make_unique<World>();
        for (int thread = 0; thread <= others; ++thread)
            simulation.thread([w = world.get(), thread, &simulation] {
                World::Section& section = w->sections[0];
                auto& token = w->tokens[static_cast<std::size_t>(thread)];
                for (int round = 0; round < (thread == 0 ? 60 : 3); ++round) {
                    for (unsigned i = thread == 0 ? 0 : simulation.random(80); i > 0; --i)
                        SimulatedWorld::yield();
                    section.pass(token);
                }
            });
        return world;
    });
}

TEST(BiasedLock, excludes_also_while_the_bias_is_taken_away) {
    EXPECT_EQ(revoke(2000, {}, 1), "");
    EXPECT_EQ(revoke(1500, {}, 2), "");
}

TEST(BiasedLock, excludes_where_there_is_no_heavy_fence) {
    EXPECT_EQ(revoke(500, {.heavy_fences = false, .fences_available = false}, 2), "");
}

TEST(BiasedLock, without_its_fence_lets_two_in) {
    EXPECT_NE(revoke(5000, {.heavy_fences = false}, 1).find("two threads are in the section"),
              std::string::npos);
}

TEST(BiasedLock, tokens_serve_several_locks_and_several_threads_one_after_another) {
    EXPECT_EQ(
        try_seeds(
            1500, {},
            [](Simulation& simulation) {
                auto world = std::make_unique<World>();
                for (int thread = 0; thread < 3; ++thread)
                    simulation.thread([w = world.get(), thread, &simulation] {
                        auto& token = w->tokens[static_cast<std::size_t>(thread)];
                        for (int round = 0; round < 40; ++round) {
                            // Each thread has a favourite, in spells.
                            const auto favourite = static_cast<std::size_t>(thread % 2);
                            w->sections[simulation.random(12) == 0 ? 1 - favourite : favourite]
                                .pass(token);
                        }
                    });
                return world;
            }),
        "");
    // A token is handed on when its thread ends: the bias that it had stays with it.
    EXPECT_EQ(try_seeds(1000, {},
                        [](Simulation& simulation) {
                            struct Heirs : World {
                                SimulatedWorld::Atom<std::uint32_t> ended{0};
                            };
                            auto world = std::make_unique<Heirs>();
                            simulation.thread([w = world.get()] {
                                for (int i = 0; i < 20; ++i) w->sections[0].pass(w->tokens[0]);
                                w->ended.store(1, heddle::release);
                            });
                            simulation.thread([w = world.get()] {
                                while (w->ended.load(heddle::acquire) == 0) SimulatedWorld::yield();
                                for (int i = 0; i < 20; ++i)
                                    w->sections[static_cast<std::size_t>(i % 2)].pass(w->tokens[0]);
                            });
                            simulation.thread([w = world.get(), &simulation] {
                                for (int i = 0; i < 4; ++i) {
                                    for (unsigned j = simulation.random(100); j > 0; --j)
                                        SimulatedWorld::yield();
                                    w->sections[0].pass(w->tokens[1]);
                                }
                            });
                            return world;
                        }),
              "");
}

TEST(BiasedLock, of_real_threads) {
    heddle::sync::BiasedLock lock;
    std::array<heddle::sync::BiasedLock::Token, 4> tokens;
    long sum = 0;
    std::vector<std::thread> threads;
    for (auto& token : tokens)
        threads.emplace_back([&] {
            // In turns, each thread is alone for a long spell, and all come at once.
            for (int round = 0; round < 10'000; ++round) {
                const auto way = lock.lock(token);
                ++sum;
                lock.unlock(token, way);
                if (&token != &tokens[0] && round % 100 == 0) std::this_thread::yield();
            }
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(sum, 40'000);
}

}  // namespace
