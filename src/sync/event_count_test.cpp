// SPDX-License-Identifier: BSD-3-Clause
#include "sync/event_count.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "testing/simulation.hpp"

namespace {

using heddle::acquire;
using heddle::relaxed;
using heddle::release;
using heddle::testing::SimulatedWorld;
using heddle::testing::Simulation;
using heddle::testing::try_seeds;

/// A sleep has no limit here: if a notification is missed, all sleep.
struct World : SimulatedWorld {
    template <class Duration>
    static void wait_for(Atom<std::uint32_t>& word, std::uint32_t expected, Duration) noexcept {
        wait(word, expected);
    }
};
using EventCount = heddle::sync::BasicEventCount<World>;

/// One that looks for sleepers by a load alone.
struct WithoutOrder {
    World::Atom<std::uint32_t> sleepers{0}, count{0};

    template <class Condition>
    void wait_for(Condition&& holds, int) noexcept {
        sleepers.fetch_add(1, heddle::acq_rel);
        const std::uint32_t seen = count.load(acquire);
        if (!holds()) World::wait(count, seen);
        sleepers.fetch_sub(1, relaxed);
    }
    void notify_all() noexcept {
        if (sleepers.load(relaxed) == 0) return;
        count.fetch_add(1, release);
        World::wake_all(count);
    }
};

/// A lead goes through turns. Two ranks sleep until each of them, and answer before the next one.
template <class Count>
std::string release_ranks(std::uint64_t seeds) {
    static constexpr std::uint32_t turns = 4;
    struct Node {
        Count count;
        World::Atom<std::uint32_t> turn{0}, answers{0};
        std::uint32_t data = 0;
    };
    return try_seeds(seeds, {}, [&](Simulation& simulation) {
        auto node = std::make_unique<Node>();
        simulation.thread([n = node.get()] {
            for (std::uint32_t turn = 1; turn <= turns; ++turn) {
                n->data = turn;
                n->turn.store(turn, release);
                n->count.notify_all();
                while (n->answers.load(acquire) != 2 * turn) World::yield();
            }
        });
        for (int rank = 0; rank < 2; ++rank)
            simulation.thread([n = node.get()] {
                for (std::uint32_t turn = 1; turn <= turns; ++turn) {
                    const auto reached = [&] { return n->turn.load(acquire) >= turn; };
                    while (!reached()) n->count.wait_for(reached, 0);
                    if (n->data != turn) Simulation::fail("woken before the data were there");
                    n->answers.fetch_add(1, heddle::acq_rel);
                }
            });
        return node;
    });
}

TEST(EventCount, misses_no_notification) { EXPECT_EQ(release_ranks<EventCount>(20000), ""); }

TEST(EventCount, would_miss_one_without_the_order) {
    EXPECT_NE(release_ranks<WithoutOrder>(5000), "");
}

}  // namespace
