// SPDX-License-Identifier: BSD-3-Clause
#include "progress/wait.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

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
    static bool may_sleep() { return true; }
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
    /// Counts one offer of the core; poll_all() precedes each.
    void poll_all(heddle::core::Thread&) { ++offers; }
    static bool short_of_cores() { return true; }
    static bool may_sleep() { return true; }
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

/// Repeats until the thread was left alone: a preempted thread gives up polling, rightly. Each time
/// `holds` gets a fresh thread, which knows nothing yet.
template <class Holds>
void expect_when_undisturbed(Holds holds) {
    bool held = false;
    for (int attempt = 0; attempt < 2000 && !held; ++attempt) {
        heddle::core::Thread thread;
        held = holds(thread);
        // A thread that has slept is preempted less.
        if (!held) std::this_thread::sleep_for(std::chrono::milliseconds{2});
    }
    EXPECT_TRUE(held);
}

TEST(Wait, on_a_crowded_core_keeps_it_while_the_peer_runs) {
    expect_when_undisturbed([](heddle::core::Thread& thread) {
        CrowdedEngine engine{.answers_at = 40};
        int kept = 0;
        while (kept < 100 && offers_until_answer(engine, thread) == 0) ++kept;
        return kept == 100 && engine.told == 0;
    });
}

TEST(Wait, on_a_crowded_core_offers_it_to_a_peer_that_waits_and_says_that_it_waits_itself) {
    expect_when_undisturbed([](heddle::core::Thread& thread) {
        CrowdedEngine engine{.answers_at = 4};
        engine.peer_waits = 4;
        if (offers_until_answer(engine, thread) != 3 || engine.told != 0) return false;
        engine.answers_at = 2;
        Answer answer{engine};
        engine.polls = 0;
        heddle::progress::Waits waits(engine, answer);
        return heddle::progress::spin(engine, thread, answer, waits) && engine.told == 4;
    });
}

TEST(Wait, on_a_crowded_core_forgets_a_peer_that_seems_to_run_and_does_not_answer) {
    expect_when_undisturbed([](heddle::core::Thread& thread) {
        CrowdedEngine engine{.answers_at = 280};
        // Four bursts, and more and more single polls between them.
        if (offers_until_answer(engine, thread) <= 20) return false;
        engine.answers_at = 1;
        return offers_until_answer(engine, thread) == 0;
    });
}

}  // namespace
