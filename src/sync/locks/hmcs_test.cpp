// SPDX-License-Identifier: BSD-3-Clause
/// What only a hierarchical lock promises: nearness, up to a threshold.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "platform/hierarchy.hpp"
#include "sync/locks/hmcs.hpp"
#include "testing/simulation.hpp"

namespace {

using heddle::sync::locks::Hmcs;
using heddle::testing::SimulatedWorld;
using heddle::testing::Simulation;

/// How often the others got the lock while a thread was known to queue: it pauses only after that.
struct Counting : SimulatedWorld {
    static inline std::array<std::uint32_t, 16> when_queued{};
    static inline std::uint32_t passed = 0;

    static std::uint32_t& mine() {
        return when_queued[static_cast<std::size_t>(Simulation::current()->running())];
    }
    static void pause() noexcept {
        if (mine() == not_yet) mine() = passed;
        SimulatedWorld::pause();
    }
    static constexpr std::uint32_t not_yet = ~0U;
};

using Lock = Hmcs<Counting>;
using Groups = std::vector<unsigned>;

/// `threads` threads pass the lock again and again. The last one is alone in its groups, so that it queues at the
/// root: how many it let pass since then, at most. (Who queues behind others of a group is not represented there
/// while the lock leaves the group.) And the longest run within an innermost group.
struct Outcome {
    std::string finding;
    std::uint32_t most_let_pass = 0;
    std::uint32_t longest_run = 0;
};

Outcome compete(const heddle::platform::Hierarchy& hierarchy,
                const std::vector<std::uint32_t>& thresholds, int threads) {
    Outcome outcome;
    for (std::uint64_t seed = 1; seed <= 200 && outcome.finding.empty(); ++seed) {
        Simulation simulation(seed);
        Lock lock(hierarchy, thresholds);
        Counting::passed = 0;
        Counting::when_queued.fill(Counting::not_yet);
        unsigned group_before = ~0U;
        std::uint32_t run = 0;
        for (int thread = 0; thread < threads; ++thread)
            simulation.thread([&, thread] {
                const unsigned group = hierarchy.levels[0][static_cast<std::size_t>(thread)];
                for (int round = 0; round < 25; ++round) {
                    Lock::Node me;
                    Counting::mine() = Counting::not_yet;
                    lock.lock(me);
                    if (thread == threads - 1 && Counting::mine() != Counting::not_yet)
                        outcome.most_let_pass =
                            std::max(outcome.most_let_pass, Counting::passed - Counting::mine());
                    ++Counting::passed;
                    run = group == group_before ? run + 1 : 1;
                    group_before = group;
                    outcome.longest_run = std::max(outcome.longest_run, run);
                    Simulation::point();
                    lock.unlock(me);
                }
            });
        outcome.finding = simulation.run();
    }
    return outcome;
}

TEST(Hmcs, lets_a_group_pass_as_often_as_its_threshold_says_while_another_waits) {
    // Two of one group and one of another, which waits for one turn of the group at most, begun or not.
    const Outcome outcome = compete({{Groups{0, 0, 1}}}, {4}, 3);
    EXPECT_EQ(outcome.finding, "");
    EXPECT_EQ(outcome.most_let_pass, 4U);
    EXPECT_GE(outcome.longest_run, 4U);
}

TEST(Hmcs, with_a_threshold_of_one_is_as_fair_as_the_queue_at_the_root) {
    const Outcome outcome = compete({{Groups{0, 1, 2, 3}}}, {1}, 4);
    EXPECT_EQ(outcome.finding, "");
    EXPECT_EQ(outcome.most_let_pass, 3U);
}

TEST(Hmcs, multiplies_the_thresholds_of_its_levels) {
    // Innermost groups {0, 1}, {2, 3} in one outer group, and thread 4 alone: 2 turns of 3 passes each.
    const Outcome outcome = compete({{Groups{0, 0, 1, 1, 2}, Groups{0, 0, 0, 0, 1}}}, {3, 2}, 5);
    EXPECT_EQ(outcome.finding, "");
    EXPECT_EQ(outcome.most_let_pass, 2U * 3U);
}

TEST(Hmcs, without_levels_is_a_queue) {
    const Outcome outcome = compete({{Groups{0, 0, 0}}}, {}, 3);
    EXPECT_EQ(outcome.finding, "");
    EXPECT_EQ(compete({{Groups{0, 0, 0}}}, {1000}, 3).finding, "");
    Lock flat{heddle::platform::Hierarchy{}};
    Lock::Node me, other;
    flat.lock(me);
    EXPECT_FALSE(flat.try_lock(other));
    flat.unlock(me);
    EXPECT_TRUE(flat.try_lock(other));
    flat.unlock(other);
}

TEST(Hmcs, works_for_processors_that_the_hierarchy_does_not_know) {
    const heddle::platform::Hierarchy two{{Groups{0, 1}}};
    std::string finding;
    for (std::uint64_t seed = 1; seed <= 100 && finding.empty(); ++seed) {
        Simulation simulation(seed);
        Lock lock(two);
        Counting::when_queued.fill(0);
        int inside = 0;
        for (int thread = 0; thread < 4; ++thread)
            simulation.thread([&] {
                for (int round = 0; round < 5; ++round) {
                    Lock::Node me;
                    lock.lock(me);
                    if (++inside != 1) Simulation::fail("two threads hold the lock");
                    Simulation::point();
                    --inside;
                    lock.unlock(me);
                }
            });
        finding = simulation.run();
    }
    EXPECT_EQ(finding, "");
}

/// Levels that nest: each innermost group lies in one group further out, and no level is trivial.
TEST(Hierarchy, of_this_machine_nests) {
    const auto& levels = heddle::platform::hierarchy_of_machine().levels;
    for (std::size_t l = 0; l < levels.size(); ++l) {
        EXPECT_EQ(levels[l].size(), levels[0].size());
        EXPECT_GT(*std::max_element(levels[l].begin(), levels[l].end()), 0U);
        for (std::size_t p = 0; l > 0 && p < levels[l].size(); ++p)
            for (std::size_t q = 0; q < p; ++q)
                if (levels[l - 1][p] == levels[l - 1][q]) {
                    EXPECT_EQ(levels[l][p], levels[l][q]);
                }
    }
}

}  // namespace
