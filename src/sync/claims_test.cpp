// SPDX-License-Identifier: BSD-3-Clause
#include "sync/claims.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "testing/simulation.hpp"

namespace {

using heddle::sync::Claims;
using heddle::testing::SimulatedWorld;
using heddle::testing::Simulation;
using heddle::testing::SimulationOptions;
using heddle::testing::try_seeds;

using SimulatedClaims = heddle::sync::BasicClaims<SimulatedWorld>;

/// Each thread makes some things, of which others hold copies of the handle.
struct World {
    static constexpr int each = 4;

    SimulatedClaims claims;
    std::vector<std::unique_ptr<SimulatedClaims::Token>> tokens;
    struct Thing {
        SimulatedClaims::Claimable claimable;
        int claimed = 0;
    };
    std::vector<std::unique_ptr<Thing>> things;
    SimulatedWorld::Atom<int> made{0};

    World(int threads) {
        for (int thread = 0; thread < threads; ++thread)
            tokens.push_back(std::make_unique<SimulatedClaims::Token>());
        for (int thing = 0; thing < threads * each; ++thing)
            things.push_back(std::make_unique<Thing>());
    }
    void claim(std::size_t thread, std::size_t thing) {
        if (!claims.claim(*tokens[thread], things[thing]->claimable)) return;
        if (++things[thing]->claimed != 1) Simulation::fail("two threads have the same thing");
    }
    void live(std::size_t thread) {
        claims.enter(*tokens[thread]);
        for (std::size_t i = 0; i < each; ++i) {
            SimulatedClaims::mark(*tokens[thread], things[thread * each + i]->claimable);
            made.fetch_add(1, heddle::acq_rel);
        }
        while (made.load(heddle::acquire) != static_cast<int>(things.size()))
            SimulatedWorld::yield();
        for (std::size_t i = 0; i < things.size(); ++i) claim(thread, i);
        claims.leave(*tokens[thread]);
    }
};

std::unique_ptr<World> people(Simulation& simulation, int threads) {
    auto world = std::make_unique<World>(threads);
    for (int thread = 0; thread < threads; ++thread)
        simulation.thread([w = world.get(), thread] { w->live(static_cast<std::size_t>(thread)); });
    return world;
}

std::string crowd(std::uint64_t seeds, SimulationOptions options, int threads) {
    return try_seeds(seeds, options,
                     [&](Simulation& simulation) { return people(simulation, threads); });
}

TEST(Claims, one_thread_has_each_thing) {
    EXPECT_EQ(crowd(3000, {}, 2), "");
    EXPECT_EQ(crowd(2000, {}, 3), "");
}

TEST(Claims, one_thread_has_each_thing_where_there_is_no_heavy_fence) {
    EXPECT_EQ(crowd(1000, {.heavy_fences = false, .fences_available = false}, 3), "");
}

TEST(Claims, without_its_fence_gives_a_thing_to_two) {
    // The mutex needs its fence, too: a seed that shows that does not count.
    bool found = false;
    for (std::uint64_t seed = 0; seed < 5000 && !found; ++seed) {
        Simulation simulation(seed, {.heavy_fences = false});
        const auto world = people(simulation, 2);
        found = simulation.run().find("two threads have the same thing") != std::string::npos;
    }
    EXPECT_TRUE(found);
}

TEST(Claims, the_maker_claims_its_thing_once) {
    Claims claims;
    Claims::Token me;
    Claims::Claimable thing;
    claims.enter(me);
    for (int i = 0; i < 3; ++i) {
        Claims::mark(me, thing);
        EXPECT_TRUE(claims.claim(me, thing));
        EXPECT_FALSE(claims.claim(me, thing));
    }
    claims.leave(me);
}

TEST(Claims, of_real_threads) {
    constexpr std::size_t threads = 3, things = 64;
    constexpr int rounds = 300;
    Claims claims;
    std::array<Claims::Claimable, things> all;
    std::array<std::atomic<int>, things> claimed{};
    std::atomic<int> ready{0};
    const auto meet = [&](int round) {
        ready.fetch_add(1);
        while (ready.load() < (round + 1) * static_cast<int>(threads)) std::this_thread::yield();
    };
    const auto live = [&](std::size_t thread) {
        Claims::Token me;
        claims.enter(me);
        for (int round = 0; round < rounds; ++round) {
            for (std::size_t i = thread; i < things; i += threads) Claims::mark(me, all[i]);
            meet(2 * round);
            for (std::size_t i = 0; i < things; ++i)
                if (claims.claim(me, all[i])) claimed[i].fetch_add(1);
            meet(2 * round + 1);
        }
        claims.leave(me);
    };
    std::vector<std::thread> all_threads;
    for (std::size_t thread = 0; thread < threads; ++thread) all_threads.emplace_back(live, thread);
    for (std::thread& thread : all_threads) thread.join();
    for (const std::atomic<int>& times : claimed) EXPECT_EQ(times.load(), rounds);
}

}  // namespace
