// SPDX-License-Identifier: BSD-3-Clause
/// A promise that only a hierarchical lock makes: nearness, up to a threshold.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "platform/hierarchy.hpp"
#include "sync/locks/hmcs.hpp"
#include "testing/simulation.hpp"

namespace {

using heddle::sync::locks::Hmcs;
using heddle::testing::SimulatedWorld;
using heddle::testing::Simulation;

/// Counts how often the others got the lock while a thread was known to queue: it pauses only after
/// that.
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

/// `threads` threads pass the lock again and again. The last one is alone in its groups, so that it
/// queues at the root. The outcome says how many it let pass since then, at most. (A thread that
/// queues behind others of a group is not represented there while the lock leaves the group.) It
/// also has the longest run within an innermost group.
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
    // Two of one group and one of another. The latter waits for one turn of the group at most,
    // begun or not.
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
    // Innermost groups {0, 1}, {2, 3} in one outer group, and thread 4 alone: 2 turns of 3 passes
    // each.
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

/// A simulated world that counts how often each thread pauses.
struct Noting : SimulatedWorld {
    static inline std::array<unsigned, 8> pauses{};
    static void pause() noexcept {
        ++pauses[static_cast<std::size_t>(Simulation::current()->running())];
        SimulatedWorld::pause();
    }
};

/// Eight threads, two in each innermost group and four in each outer one, take the lock once. They
/// queue in the order of their numbers while thread 0 holds it. So thread 1 waits within its group,
/// thread 2 with its group, thread 4 at the root. The others wait behind them at each level. No
/// thread lets go before all others have come to rest in their queues. So the order in which they
/// get the lock is the protocol's alone.
class Parade {
public:
    explicit Parade(std::vector<std::uint32_t> thresholds)
        : lock_(SimulatedWorld::hierarchy(), thresholds) {
        Noting::pauses.fill(0);
    }

    void pass(unsigned number) {
        while (arrived_ != number) SimulatedWorld::yield();
        Hmcs<Noting>::Node me;
        lock_.lock(me);
        order_.push_back(number);
        if (number == 0)
            let_all_queue();
        else
            let_all_rest();
        lock_.unlock(me);
        ++gone_;
    }
    const std::vector<unsigned>& order() const { return order_; }

private:
    static constexpr unsigned threads = 8;

    void let_all_queue() {
        for (unsigned number = 1; number < threads; ++number) {
            arrived_ = number;
            while (Noting::pauses[number] == 0)
                SimulatedWorld::yield();     // it pauses after it has queued
            SimulatedWorld::Fence::heavy();  // and now all threads see that
        }
    }
    /// Waits until the thread that had the lock has told the others, and they have gone where that
    /// sends them.
    void let_all_rest() {
        while (gone_ + 1 != order_.size()) SimulatedWorld::yield();
        SimulatedWorld::Fence::heavy();
        const auto before = Noting::pauses;
        for (unsigned number = 0; number < threads; ++number)
            while (waits(number) && Noting::pauses[number] < before[number] + 2)
                SimulatedWorld::yield();
        SimulatedWorld::Fence::heavy();
    }
    bool waits(unsigned number) const {
        return std::find(order_.begin(), order_.end(), number) == order_.end();
    }

    Hmcs<Noting> lock_;
    unsigned arrived_ = 0;
    std::size_t gone_ = 0;
    std::vector<unsigned> order_;
};

TEST(Hmcs, hands_on_at_each_level_as_its_threshold_says_to_whoever_waits_there) {
    const std::pair<std::vector<std::uint32_t>, std::vector<unsigned>> expected[] = {
        {{2, 2},
         {0, 1, 2, 3, 4, 5, 6,
          7}},  // a group passes to its second, an outer group to its second group
        {{2, 1}, {0, 1, 4, 5, 2, 3, 6, 7}},  // after every group the lock goes to the root
        {{1, 2}, {0, 2, 4, 6, 1, 3, 5, 7}},  // a thread that is left in a group goes up with it
                                             // again
        {{1, 1},
         {0, 4, 2, 6, 1, 5, 3, 7}},  // every passage climbs to the root, and calls those behind up
    };
    for (const auto& [thresholds, order] : expected)
        for (std::uint64_t seed = 1; seed <= 100; ++seed) {
            Simulation simulation(seed);
            Parade parade(thresholds);
            for (unsigned number = 0; number < 8; ++number)
                simulation.thread([&parade, number] { parade.pass(number); });
            ASSERT_EQ(simulation.run(), "");
            ASSERT_EQ(parade.order(), order) << "seed " << seed;
        }
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
