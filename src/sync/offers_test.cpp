// SPDX-License-Identifier: BSD-3-Clause
#include "sync/offers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "sync/native.hpp"
#include "sync/offer_cursor.hpp"
#include "testing/rounds.hpp"
#include "testing/simulation.hpp"

namespace {

using heddle::acquire;
using heddle::release;
using heddle::testing::SimulatedWorld;
using heddle::testing::Simulation;
using heddle::testing::SimulationOptions;

constexpr std::size_t slots = 2;
using SimulatedOffers = heddle::sync::BasicOffers<SimulatedWorld, slots>;
constexpr auto fence = [] { SimulatedWorld::Fence::heavy(); };

/// A sender offers messages and takes some back. Receivers accept each, at once or after they have
/// left it.
struct World {
    static constexpr std::size_t messages = 6;
    enum Fate : int { open, accepted, taken_back };

    SimulatedOffers offers;
    std::array<SimulatedWorld::Atom<std::uint64_t>, messages>
        sent{};  ///< numbers, as a ring has them
    std::array<Fate, messages> fates{};
    std::array<bool, messages> seen_taken_back{};
    const bool reuse;

    explicit World(bool reuse) : reuse(reuse) {}

    void decide(std::size_t message, Fate fate) {
        if (fates[message] != open) Simulation::fail("a message has two fates");
        fates[message] = fate;
    }
    void send() {
        std::uint32_t next = 0;
        std::array<std::uint64_t, messages> numbers{};
        const auto take_back = [&](std::size_t message) {
            if (numbers[message] == SimulatedOffers::none || fates[message] == taken_back) return;
            if (offers.take_back(numbers[message], fence)) decide(message, taken_back);
        };
        for (std::size_t i = 0; i < messages; ++i) {
            // Without a free slot the message waits, as in a backlog.
            while ((numbers[i] = offers.offer(next, reuse)) == SimulatedOffers::none)
                SimulatedWorld::yield();
            sent[i].store(numbers[i], release);
            if (i % 3 != 2) take_back(i);
            if (i >= 2 && i % 2 == 0) take_back(i - 2);  // its slot may be another's
        }
    }
    std::uint64_t arrival(std::size_t message) {
        for (;;) {
            if (const std::uint64_t number = sent[message].load(acquire)) return number;
            SimulatedWorld::yield();
        }
    }
    /// Accepts a message, or holds and leaves it. Returns false if it has been taken back.
    bool accept(std::size_t message, std::uint64_t number, bool in_earnest) {
        if (!offers.hold(number)) {
            seen_taken_back[message] = true;
            return false;
        }
        if (!in_earnest) {
            offers.leave(number);
            return true;
        }
        offers.accept(number);
        decide(message, accepted);
        return true;
    }
    /// Receives messages first, first + 2, and so on. Each is left, and held again.
    void receive_every_other(std::size_t first) {
        for (std::size_t i = first; i < messages; i += 2) {
            const std::uint64_t number = arrival(i);
            if (accept(i, number, false)) accept(i, number, true);
        }
    }
    /// Receives all messages. Every other one is left until the next has come: its slot may be
    /// another's by then.
    void receive_all() {
        for (std::size_t i = 0; i < messages; i += 2) {
            const std::uint64_t number = arrival(i);
            const bool stands = accept(i, number, false);
            const std::uint64_t next = arrival(i + 1);
            if (stands) accept(i, number, true);
            accept(i + 1, next, true);
        }
    }
    /// Returns a finding if a message was lost: the receiver did not get it, and the sender did not
    /// take it back.
    std::string verdict() const {
        for (std::size_t i = 0; i < messages; ++i) {
            if (fates[i] == open) return "message " + std::to_string(i) + " has no fate";
            if (seen_taken_back[i] && fates[i] != taken_back) return "a message was lost";
        }
        return {};
    }
};

/// Returns the first finding among so many seeds.
std::string run(std::uint64_t seeds, SimulationOptions options, bool reuse,
                std::array<int, 3>* fates = nullptr) {
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        Simulation simulation(seed, options);
        World world(reuse);
        simulation.thread([&] { world.send(); });
        if (reuse) {
            simulation.thread([&] { world.receive_all(); });
        } else {
            simulation.thread([&] { world.receive_every_other(0); });
            simulation.thread([&] { world.receive_every_other(1); });
        }
        std::string finding = simulation.run();
        if (finding.empty()) finding = world.verdict();
        if (!finding.empty()) return finding;
        for (std::size_t i = 0; fates != nullptr && i < World::messages; ++i)
            ++(*fates)[static_cast<std::size_t>(world.fates[i])];
    }
    return {};
}

constexpr auto schedules = static_cast<int>(heddle::testing::rounds_in_one_thread(20000));

TEST(Offers, are_accepted_or_taken_back) {
    std::array<int, 3> fates{};
    EXPECT_EQ(run(schedules, {}, true, &fates), "");
    // Both happen, so that the schedules are worth something.
    EXPECT_GT(fates[World::accepted], schedules / 2);
    EXPECT_GT(fates[World::taken_back], schedules / 2);
}

TEST(Offers, are_accepted_or_taken_back_where_receivers_share_no_lock) {
    std::array<int, 3> fates{};
    EXPECT_EQ(run(schedules, {}, false, &fates), "");
    EXPECT_GT(fates[World::accepted], schedules / 2);
    EXPECT_GT(fates[World::taken_back], schedules / 2);
}

TEST(Offers, have_two_fates_without_the_fence) {
    EXPECT_NE(run(20000, {.heavy_fences = false}, true).find("two fates"), std::string::npos);
    EXPECT_NE(run(20000, {.heavy_fences = false}, false).find("two fates"), std::string::npos);
}

TEST(Offers, of_one_slot_meet_where_it_is_reused_without_a_lock) {
    // This is the reason for `reuse`: an answer to an earlier offer must not wipe out that to the
    // next.
    bool found = false;
    for (std::uint64_t seed = 1; seed <= 50000 && !found; ++seed) {
        Simulation simulation(seed, {});
        World world(true);
        simulation.thread([&] { world.send(); });
        simulation.thread([&] { world.receive_every_other(0); });
        simulation.thread([&] { world.receive_every_other(1); });
        found = simulation.run().find("two fates") != std::string::npos;
    }
    EXPECT_TRUE(found);
}

/// A sender has a higher priority than the receiver, on the same core. It takes a message back
/// while the receiver holds it.
TEST(Offers, are_taken_back_by_an_urgent_thread_on_the_receivers_core) {
    int held = 0;
    for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
        Simulation simulation(seed, {.urgent_thread = 0, .most_steps = 20'000});
        SimulatedOffers offers{};
        SimulatedWorld::Atom<std::uint64_t> sent{0};
        SimulatedWorld::Atom<std::uint32_t> nobody_wakes{0};
        bool holds = false, taken_back = false, accepted = false;
        simulation.thread([&] {
            std::uint32_t next = 0;
            const std::uint64_t number = offers.offer(next, true);
            sent.store(number, release);
            SimulatedWorld::wait_for(nobody_wakes, 0, std::chrono::microseconds(1));
            if (holds) ++held;
            taken_back = offers.take_back(number, fence);
        });
        simulation.thread([&] {
            std::uint64_t number = 0;
            while ((number = sent.load(acquire)) == 0) SimulatedWorld::yield();
            holds = offers.hold(number);
            if (!holds) return;
            for (int step = 0; step < 8; ++step) Simulation::point();  // it looks for a receive
            offers.accept(number);
            holds = false;
            accepted = true;
        });
        ASSERT_EQ(simulation.run(), "") << "seed " << seed;
        ASSERT_NE(accepted, taken_back) << "seed " << seed;
    }
    EXPECT_GT(held, 100);
}

TEST(Offers, number_as_many_as_there_are_slots) {
    heddle::sync::BasicOffers<heddle::sync::Native, 4> offers{};
    std::uint32_t next = 0;
    std::vector<std::uint64_t> numbers;
    for (int i = 0; i < 4; ++i) numbers.push_back(offers.offer(next, true));
    EXPECT_EQ(offers.offer(next, true), 0u);
    const auto no_fence = [] {};
    EXPECT_TRUE(offers.take_back(numbers[2], no_fence));
    EXPECT_FALSE(offers.take_back(numbers[2], no_fence));
    const std::uint64_t again = offers.offer(next, true);
    EXPECT_EQ(again, numbers[2] + 4);
    // is_taken_back() knows the one that was taken back, whatever has become of its slot.
    EXPECT_TRUE(offers.is_taken_back(numbers[2]));
    EXPECT_FALSE(offers.is_taken_back(again));
    ASSERT_TRUE(offers.hold(again));
    offers.accept(again);
    EXPECT_FALSE(offers.hold(numbers[2]));
    EXPECT_FALSE(offers.take_back(again, no_fence));
    EXPECT_EQ(offers.offer(next, true), again + 4);
}

TEST(Offers, keep_their_slots_until_they_are_seen_to_be_taken_back) {
    heddle::sync::BasicOffers<heddle::sync::Native, 1> offers{};
    std::uint32_t next = 0;
    const std::uint64_t first = offers.offer(next, false);
    EXPECT_TRUE(offers.take_back(first, [] {}));
    EXPECT_EQ(offers.offer(next, false), 0u);
    EXPECT_FALSE(offers.hold(first));
    EXPECT_NE(offers.offer(next, false), 0u);
}

// --- as many as stand at once ---

/// A first block, and further ones that are made when they are needed.
template <class First, class Further>
struct Blocks {
    First first{};
    std::deque<Further> further;
    std::size_t most = heddle::sync::OfferCursor::most_further;

    template <class Use>
    auto with(std::uint8_t block, Use&& use) {
        return block == 0 ? use(first) : use(further[block - 1u]);
    }
    bool add(std::uint8_t block) {
        if (further.size() == most) return false;
        EXPECT_EQ(block, further.size() + 1);
        further.emplace_back();
        return true;
    }
};

/// A sender that never waits for a slot, and receivers that leave everything until all has come.
struct Growing {
    static constexpr std::size_t messages = 6;
    static constexpr std::uint64_t in_block = 1000;  ///< block * in_block + number is sent

    Blocks<SimulatedOffers, SimulatedOffers> blocks;
    World fates{true};

    Growing() {
        for (std::uint8_t block = 1; block <= 3; ++block) blocks.add(block);  // no threads yet
        blocks.further.resize(3);
    }
    /// The blocks, of which add() only pretends to make one.
    struct Made {
        Growing& world;
        template <class Use>
        auto with(std::uint8_t block, Use&& use) {
            return world.blocks.with(block, use);
        }
        bool add(std::uint8_t block) const { return block <= 3; }
    };

    void send() {
        heddle::sync::OfferCursor cursor{};
        std::array<heddle::sync::OfferCursor::Found, messages> found{};
        for (std::size_t i = 0; i < messages; ++i) {
            found[i] = cursor.offer(Made{*this}, true);
            if (found[i].number == 0) Simulation::fail("there is no slot");
            fates.sent[i].store(found[i].block * in_block + found[i].number, release);
        }
        for (std::size_t i = 0; i < messages; i += 2)
            if (blocks.with(found[i].block,
                            [&](auto& offers) { return offers.take_back(found[i].number, fence); }))
                fates.decide(i, World::taken_back);
    }
    bool hold(std::uint64_t message) {
        return blocks.with(static_cast<std::uint8_t>(message / in_block),
                           [&](auto& offers) { return offers.hold(message % in_block); });
    }
    void receive() {
        std::array<std::uint64_t, messages> come{};
        for (std::size_t i = 0; i < messages; ++i) {
            come[i] = fates.arrival(i);
            if (!hold(come[i])) continue;
            blocks.with(static_cast<std::uint8_t>(come[i] / in_block),
                        [&](auto& offers) { offers.leave(come[i] % in_block); });
        }
        for (std::size_t i = 0; i < messages; ++i) {
            if (!hold(come[i])) {
                fates.seen_taken_back[i] = true;
                continue;
            }
            blocks.with(static_cast<std::uint8_t>(come[i] / in_block),
                        [&](auto& offers) { offers.accept(come[i] % in_block); });
            fates.decide(i, World::accepted);
        }
    }
};

TEST(OfferCursor, finds_a_slot_for_each_of_many_that_stand) {
    constexpr std::uint64_t rounds = heddle::testing::rounds_in_one_thread(10000);
    std::array<std::uint64_t, 3> fates{};
    for (std::uint64_t seed = 1; seed <= rounds; ++seed) {
        Simulation simulation(seed, {});
        Growing world;
        simulation.thread([&] { world.send(); });
        simulation.thread([&] { world.receive(); });
        ASSERT_EQ(simulation.run(), "") << "seed " << seed;
        ASSERT_EQ(world.fates.verdict(), "") << "seed " << seed;
        for (const World::Fate fate : world.fates.fates) ++fates[fate];
    }
    EXPECT_GT(fates[World::accepted], rounds);
    EXPECT_GT(fates[World::taken_back], rounds / 10);
}

/// Loads of slots: the cost of an offer.
std::uint64_t looks = 0;
template <class T>
struct CountingAtom : std::atomic<T> {
    T load(std::memory_order order) const noexcept {
        ++looks;
        return std::atomic<T>::load(order);
    }
};
struct CountingWorld : heddle::sync::Native {
    template <class T>
    using Atom = CountingAtom<T>;
};
using SmallOffers = heddle::sync::BasicOffers<CountingWorld, 16>;
using LargeOffers = heddle::sync::BasicOffers<CountingWorld, 256>;

void accept(Blocks<SmallOffers, LargeOffers>& blocks,
            const heddle::sync::OfferCursor::Found& found) {
    blocks.with(found.block, [&](auto& offers) {
        ASSERT_TRUE(offers.hold(found.number));
        offers.accept(found.number);
    });
}

TEST(OfferCursor, looks_at_few_slots_and_adds_few_blocks_however_many_stand) {
    std::minstd_rand random(7);
    Blocks<SmallOffers, LargeOffers> blocks;
    heddle::sync::OfferCursor cursor{};
    std::vector<heddle::sync::OfferCursor::Found> standing;
    std::uint64_t offered = 0;
    const auto offer = [&] {
        standing.push_back(cursor.offer(blocks, true));
        ++offered;
        ASSERT_NE(standing.back().number, 0U);
    };
    // Many come and go in turns: random ones, the oldest, the latest.
    for (const std::size_t most : {10U, 1000U, 4000U, 300U, 4000U, 0U}) {
        looks = 0;
        offered = 0;
        for (int step = 0; step < 40000; ++step) {
            while (standing.size() > most) {
                accept(blocks, standing.back());
                standing.pop_back();
            }
            offer();
            const std::size_t chosen = step % 3 == 0 ? 0
                : step % 3 == 1                      ? standing.size() - 1
                                                     : random() % standing.size();
            if (standing.size() < most && step % 8 != 7) continue;
            accept(blocks, standing[chosen]);
            standing[chosen] = standing.back();
            standing.pop_back();
        }
        EXPECT_LT(looks, 16 * offered) << most << " stand";
    }
    EXPECT_LE(blocks.further.size() * 256, 4U * 4000 + 512);
}

TEST(OfferCursor, goes_without_a_slot_where_no_block_can_be_added) {
    Blocks<SmallOffers, LargeOffers> blocks;
    blocks.most = 0;
    heddle::sync::OfferCursor cursor{};
    std::vector<heddle::sync::OfferCursor::Found> standing;
    for (int i = 0; i < 16; ++i) standing.push_back(cursor.offer(blocks, true));
    EXPECT_EQ(cursor.offer(blocks, true).number, 0U);
    accept(blocks, standing[5]);
    EXPECT_NE(cursor.offer(blocks, true).number, 0U);
    EXPECT_EQ(cursor.offer(blocks, true).number, 0U);
    blocks.most = 1;
    EXPECT_EQ(cursor.offer(blocks, true).block, 1);
    for (int i = 1; i < 256; ++i) EXPECT_NE(cursor.offer(blocks, true).number, 0U);
    EXPECT_EQ(cursor.offer(blocks, true).number, 0U);
    for (const auto& found : standing)
        if (found.number != standing[5].number) accept(blocks, found);
    EXPECT_EQ(cursor.offer(blocks, true).block, 0);
}

TEST(Offers, of_real_threads) {
    constexpr std::size_t count = 20000;
    heddle::sync::BasicOffers<heddle::sync::Native, 8> offers{};
    std::vector<std::atomic<std::uint64_t>> sent(count);
    std::vector<int> accepted(count), taken_back(count);
    std::thread receiver([&] {
        for (std::size_t i = 0; i < count; ++i) {
            std::uint64_t number = 0;
            while ((number = sent[i].load(acquire)) == 0) std::this_thread::yield();
            if (!offers.hold(number)) continue;
            if (i % 5 == 0) {
                offers.leave(number);
                if (!offers.hold(number)) continue;
            }
            offers.accept(number);
            accepted[i] = 1;
        }
    });
    std::uint32_t next = 0;
    for (std::size_t i = 0; i < count; ++i) {
        std::uint64_t number = 0;
        while ((number = offers.offer(next, true)) == 0) std::this_thread::yield();
        sent[i].store(number, release);
        if (i % 3 != 0)
            taken_back[i] = offers.take_back(number, [] { heddle::sync::ProcessFence::heavy(); });
    }
    receiver.join();
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(accepted[i] + taken_back[i], 1) << i;
}

}  // namespace
