// SPDX-License-Identifier: BSD-3-Clause
#include "progress/wait_policy.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <vector>

#include "progress/offer.hpp"

namespace {

using namespace std::chrono_literals;
using heddle::progress::PeerState;
using heddle::progress::WaitPolicy;
using Next = WaitPolicy::Next;

/// Waits of one thread on a simulated clock. A poll takes 100 ns, an offer of the core a
/// microsecond.
struct Waiter {
    heddle::core::Patience patience{};
    heddle::core::Company company{};
    std::chrono::nanoseconds now{1s};
    bool crowded = false;
    PeerState peer = PeerState::unknown;
    bool far = false;

    // The last wait:
    int polls = 0, offers = 0;
    std::vector<int> bursts{};  ///< the polls of each

    /// Waits for an event that poll number `at` brings. Messages come with each poll before number
    /// `busy`. Returns whether the thread got it without a sleep.
    bool wait(int at, int busy = 0) {
        WaitPolicy policy(patience, company);
        polls = offers = 0;
        bursts.clear();
        while (policy.may_poll()) {
            policy.begin_burst(crowded, peer, far);
            bursts.push_back(0);
            do {
                now += 100ns;
                ++polls;
                ++bursts.back();
                if (polls == at) {
                    policy.note_event(peer);
                    return true;
                }
            } while (policy.polls_again(polls < busy, peer));
            policy.end_burst(peer);
            const Next next = policy.next(now);
            if (next == Next::sleep) return false;
            if (next == Next::poll) continue;
            now += 1us;
            ++offers;
            policy.note_offer();
        }
        return false;
    }
};

constexpr int never = -1;

TEST(WaitPolicy, a_core_of_its_own_spins_as_long_as_a_sleep_costs) {
    Waiter waiter;
    for (const auto cost : {120us, 200us}) {
        waiter.patience.cost_of_sleep = cost;
        const auto start = waiter.now;
        EXPECT_FALSE(waiter.wait(never));
        EXPECT_GE(waiter.now - start, cost);
        EXPECT_LE(waiter.now - start, cost + 20us);
        EXPECT_EQ(waiter.bursts.front(), 64);
        EXPECT_NEAR(waiter.offers, static_cast<int>(waiter.bursts.size()) / 4, 1);
    }
}

TEST(WaitPolicy, messages_begin_the_time_anew) {
    Waiter waiter;
    EXPECT_FALSE(waiter.wait(never));
    const int alone = waiter.polls;
    EXPECT_FALSE(waiter.wait(never, 5000));
    EXPECT_GE(waiter.polls, 5000 + alone - 130);  // a burst goes on while messages come
}

TEST(WaitPolicy, a_crowded_core_with_strangers_keeps_bursts_while_answers_come_within_them) {
    Waiter waiter;
    waiter.crowded = true;
    for (int i = 0; i < 100; ++i) {
        ASSERT_TRUE(waiter.wait(40));
        ASSERT_EQ(waiter.offers, 0);
    }
    EXPECT_FALSE(waiter.wait(never));
    EXPECT_EQ(waiter.bursts.front(), 64);
    EXPECT_EQ(waiter.bursts.back(), 1) << "a burst was in vain";
    EXPECT_LE(waiter.offers, static_cast<int>(WaitPolicy::most_offers));
    ASSERT_TRUE(waiter.wait(1));
    EXPECT_EQ(waiter.bursts.front(), 1);
}

TEST(WaitPolicy, a_crowded_core_is_offered_after_each_poll_to_a_peer_that_waits) {
    Waiter waiter{.crowded = true, .peer = PeerState::waits};
    ASSERT_TRUE(waiter.wait(10));
    EXPECT_EQ(waiter.offers, 9);
}

TEST(WaitPolicy, a_peer_that_seems_to_run_and_does_not_answer_gets_ever_fewer_bursts) {
    Waiter waiter{.crowded = true, .peer = PeerState::runs};
    EXPECT_FALSE(waiter.wait(never));
    std::vector<int> single;  // polls between bursts
    for (const int polls : waiter.bursts) {
        if (polls > 1)
            single.push_back(0);
        else if (!single.empty())
            ++single.back();
    }
    ASSERT_GE(single.size(), 4U);
    EXPECT_EQ(single[0], 1);
    EXPECT_EQ(single[1], 3);
    EXPECT_EQ(single[2], 7);
    // Answers within bursts bring it back.
    for (int i = 0; i < 20; ++i) waiter.wait(1);
    EXPECT_EQ(waiter.patience.bursts_to_skip, 0);
}

TEST(WaitPolicy, a_peer_that_runs_does_not_keep_the_core_for_ever) {
    Waiter waiter{.crowded = true, .peer = PeerState::runs};
    std::optional<int> first;
    for (int i = 0; i < 5000 && !first; ++i) {
        ASSERT_TRUE(waiter.wait(2));
        if (waiter.offers > 0) first = i;
    }
    EXPECT_EQ(first, static_cast<int>(WaitPolicy::answers_per_share) - 1);
}

TEST(WaitPolicy, bursts_are_short_if_polls_look_at_the_network) {
    for (const bool crowded : {false, true}) {
        Waiter waiter{.crowded = crowded, .far = true};
        EXPECT_FALSE(waiter.wait(never));
        EXPECT_EQ(waiter.bursts.front(), 8) << crowded;
    }
}

TEST(WaitPolicy, a_wait_that_has_slept_does_not_sleep_earlier_the_next_time) {
    Waiter waiter{.crowded = true, .peer = PeerState::waits};
    for (int i = 0; i < 10; ++i) {
        EXPECT_FALSE(waiter.wait(never));
        EXPECT_EQ(waiter.offers, static_cast<int>(WaitPolicy::most_offers));
    }
}

TEST(WaitPolicy, the_cost_of_a_sleep_is_learned_from_rings_alone_and_has_bounds) {
    heddle::core::Patience patience;
    const auto learn = [&](std::chrono::nanoseconds cost, bool rang) {
        const std::chrono::nanoseconds asleep = 10ms, rung = asleep + (rang ? 1us : -1us);
        heddle::progress::learn_cost_of_sleep(patience, asleep, asleep, rung, rung + cost);
    };
    for (int i = 0; i < 50; ++i) learn(150us, true);
    EXPECT_NEAR(static_cast<double>(patience.cost_of_sleep.count()), 150e3, 1e3);
    learn(10ms, false);
    EXPECT_NEAR(static_cast<double>(patience.cost_of_sleep.count()), 150e3, 1e3);
    for (int i = 0; i < 50; ++i) learn(10ms, true);
    EXPECT_EQ(patience.cost_of_sleep, WaitPolicy::most_cost_of_sleep);
    for (int i = 0; i < 50; ++i) learn(0ns, true);
    EXPECT_EQ(patience.cost_of_sleep, WaitPolicy::least_cost_of_sleep);
}

/// Notes an offer of a shared core.
bool note_offer(heddle::core::Patience& patience, std::uint32_t took) {
    return heddle::progress::note_offer(patience, took, true);
}

TEST(Offer, shows_a_crowded_core_until_several_in_a_row_find_no_taker) {
    using heddle::progress::long_offer, heddle::progress::offers_until_alone;
    heddle::core::Patience patience;
    EXPECT_FALSE(patience.crowded());
    EXPECT_TRUE(note_offer(patience, 200'000));  // the first one of all is taken
    EXPECT_TRUE(patience.crowded());
    for (int round = 0; round < 2; ++round) {
        for (int i = 1; i < offers_until_alone; ++i) EXPECT_TRUE(note_offer(patience, 1'500));
        EXPECT_TRUE(patience.crowded()) << "the kernel may run the thread again";
        EXPECT_TRUE(note_offer(patience, 20'000));
    }
    for (int i = 0; i < offers_until_alone; ++i) EXPECT_TRUE(note_offer(patience, 1'500));
    EXPECT_FALSE(patience.crowded());
    EXPECT_FALSE(note_offer(patience, long_offer)) << "a thread that computes has taken it";
}

TEST(Offer, becomes_a_nap_after_many_that_no_thread_takes_and_naps_end) {
    using heddle::progress::naps, heddle::progress::naps_before_offers,
        heddle::progress::offers_before_naps;
    heddle::core::Patience patience;
    for (int round = 0; round < 2; ++round) {
        for (int i = 0; i < offers_before_naps; ++i) {
            EXPECT_FALSE(naps(patience)) << i;
            EXPECT_TRUE(note_offer(patience, 1'500));
        }
        for (int i = 0; i < naps_before_offers; ++i) EXPECT_TRUE(naps(patience)) << i;
    }
    EXPECT_FALSE(naps(patience));
    for (int i = 1; i < offers_before_naps; ++i) note_offer(patience, 1'500);
    note_offer(patience, 20'000);
    EXPECT_FALSE(naps(patience)) << "a thread has taken the last one";
    for (int i = 0; i < 2 * offers_before_naps; ++i)
        heddle::progress::note_offer(patience, 1'500, false);
    EXPECT_FALSE(naps(patience)) << "each thread has a core";
}

}  // namespace
