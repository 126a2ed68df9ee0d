// SPDX-License-Identifier: BSD-3-Clause
#include "progress/wait.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>

namespace {

/// Messages keep coming to the likely instance. The awaited message is in another one.
struct BusyEngine {
    static constexpr std::uint64_t likely = 1;
    bool came = false;

    bool poll(heddle::core::Thread&, std::uint64_t which) {
        EXPECT_EQ(which, likely);
        return true;
    }
    void poll_all(heddle::core::Thread&) { came = true; }
    bool short_of_cores() const { return crowded; }
    static bool looks_far() { return false; }
    static bool may_sleep() { return true; }
    static bool offer_core(heddle::core::Patience&) { return true; }
    static bool poll_without_sleep(heddle::core::Thread&) { return false; }
    void tell_waits(std::uint64_t, bool) {}
    heddle::core::Company& company() { return company_; }
    bool crowded = false;
    heddle::core::Company company_{};
};

struct Message {
    BusyEngine& engine;
    bool holds() const { return engine.came; }
    std::uint64_t instances() const { return ~std::uint64_t{0}; }
    std::uint64_t likely_instances() const { return BusyEngine::likely; }
    void announce(heddle::sync::Slot*) {}
    void tell(heddle::core::Thread&, heddle::node::WaitsFor&) noexcept {}
};

TEST(Wait, looks_at_every_instance_although_one_keeps_it_busy) {
    for (const bool crowded : {false, true}) {
        BusyEngine engine;
        engine.crowded = crowded;
        heddle::core::Thread thread;
        Message message{engine};
        heddle::progress::Waits waits(engine, message);
        EXPECT_TRUE(heddle::progress::spin(engine, thread, message, waits));
    }
}

/// A crowded core. The answer comes with poll number `answers_at`, from a peer that runs or waits
/// itself.
struct CrowdedEngine {
    int answers_at = 1;
    int polls = 0, offers = 0;
    std::atomic<std::uint64_t> peer_waits{0};
    std::uint64_t told = 0;
    heddle::core::Company company_{};

    bool poll(heddle::core::Thread&, std::uint64_t) {
        ++polls;
        return false;
    }
    static void poll_all(heddle::core::Thread&) {}
    static bool short_of_cores() { return true; }
    static bool looks_far() { return false; }
    static bool may_sleep() { return true; }
    /// No thread takes the core.
    bool offer_core(heddle::core::Patience&) {
        ++offers;
        return true;
    }
    static bool poll_without_sleep(heddle::core::Thread&) { return false; }
    void tell_waits(std::uint64_t which, bool on) { told = on ? told | which : told & ~which; }
    heddle::core::Company& company() { return company_; }
};

struct Answer {
    CrowdedEngine& engine;
    bool holds() const { return engine.polls >= engine.answers_at; }
    std::uint64_t instances() const { return 4; }
    std::uint64_t likely_instances() const { return 4; }
    heddle::progress::Peer peer() const { return {engine.peer_waits, 4}; }
    void announce(heddle::sync::Slot*) {}
    void tell(heddle::core::Thread&, heddle::node::WaitsFor&) noexcept {}
};

/// Returns how often the core is offered until the answer comes; -1 if the thread gives up polling.
int offers_until_answer(CrowdedEngine& engine, heddle::core::Thread& thread) {
    Answer answer{engine};
    engine.polls = engine.offers = 0;
    heddle::progress::Waits waits(engine, answer);
    return heddle::progress::spin(engine, thread, answer, waits) ? engine.offers : -1;
}

TEST(Wait, on_a_crowded_core_keeps_it_while_the_peer_runs) {
    CrowdedEngine engine{.answers_at = 40};
    heddle::core::Thread thread;
    for (int i = 0; i < 100; ++i) ASSERT_EQ(offers_until_answer(engine, thread), 0) << i;
    EXPECT_EQ(engine.told, 0U);
}

TEST(Wait, on_a_crowded_core_offers_it_to_a_peer_that_waits_and_says_that_it_waits_itself) {
    CrowdedEngine engine{.answers_at = 4};
    engine.peer_waits = 4;
    heddle::core::Thread thread;
    EXPECT_EQ(offers_until_answer(engine, thread), 3);
    EXPECT_EQ(engine.told, 0U);
    engine.answers_at = 2;
    Answer answer{engine};
    engine.polls = 0;
    heddle::progress::Waits waits(engine, answer);
    EXPECT_TRUE(heddle::progress::spin(engine, thread, answer, waits));
    EXPECT_EQ(engine.told, 4U);
}

TEST(Wait, on_a_crowded_core_forgets_a_peer_that_seems_to_run_and_does_not_answer) {
    CrowdedEngine engine{.answers_at = 280};
    heddle::core::Thread thread;
    // Four bursts, and more and more single polls between them.
    EXPECT_GT(offers_until_answer(engine, thread), 20);
    engine.answers_at = 1;
    EXPECT_EQ(offers_until_answer(engine, thread), 0);
}

}  // namespace
