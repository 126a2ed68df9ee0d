// SPDX-License-Identifier: BSD-3-Clause
#include "sync/parking.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "testing/simulation.hpp"

namespace {

using heddle::acquire;
using heddle::relaxed;
using heddle::release;
using heddle::seq_cst;
using heddle::sync::Naps;
using heddle::testing::SimulatedWorld;
using heddle::testing::Simulation;
using heddle::testing::SimulationOptions;
using heddle::testing::try_seeds;

using Slot = heddle::sync::BasicSlot<SimulatedWorld, SimulatedWorld>;
using Bell = heddle::sync::BasicDoorbell<SimulatedWorld>;

/// A request and its waiter (p2p/progress_call.hpp and progress/wait.hpp), rid of everything else.
struct Request {
    SimulatedWorld::Atom<std::uint32_t> done{0};
    SimulatedWorld::Atom<Slot*> waiter{nullptr};
    Slot slot;
    Bell bell;
    int result = 0;

    void complete(int value) {
        result = value;
        done.store(1, release);
        SimulatedWorld::Fence::light();
        if (Slot* waiting = waiter.load(relaxed)) waiting->signal();
    }
    void wait(bool at_bell) {
        Naps naps;
        while (true) {
            slot.prepare();
            waiter.store(&slot, relaxed);
            SimulatedWorld::Fence::heavy();
            if (done.load(acquire) != 0) break;
            if (!at_bell) {
                slot.sleep(naps);
                continue;
            }
            bell.prepare();
            if (slot.enter_bell(bell)) {
                if (done.load(acquire) == 0) bell.sleep(naps);
                slot.leave_bell();
            }
            bell.cancel();
        }
        waiter.store(nullptr, relaxed);
    }
};

std::string wait_for_requests(std::uint64_t seeds, SimulationOptions options, bool at_bell) {
    return try_seeds(seeds, options, [&](Simulation& simulation) {
        struct Both {
            std::array<Request, 3> requests;
            SimulatedWorld::Atom<std::uint32_t> next{0};
        };
        auto both = std::make_unique<Both>();
        simulation.thread([b = both.get(), at_bell] {
            int number = 0;
            for (Request& request : b->requests) {
                request.wait(at_bell);
                if (request.result != ++number)
                    Simulation::fail("woken before the result was there");
                b->next.store(static_cast<std::uint32_t>(number), release);
            }
        });
        simulation.thread([b = both.get()] {
            int number = 0;
            for (Request& request : b->requests) {
                while (b->next.load(acquire) != static_cast<std::uint32_t>(number))
                    SimulatedWorld::yield();
                request.complete(++number);
            }
        });
        // Signals that mean nothing.
        simulation.thread([b = both.get()] {
            for (Request& request : b->requests) {
                SimulatedWorld::yield();
                request.slot.signal();
                request.bell.ring();
            }
        });
        return both;
    });
}

TEST(Slot, no_completion_is_slept_through) { EXPECT_EQ(wait_for_requests(3000, {}, false), ""); }
TEST(Slot, no_completion_is_slept_through_at_the_bell) {
    EXPECT_EQ(wait_for_requests(3000, {}, true), "");
}
TEST(Slot, no_completion_is_slept_through_for_ever_where_there_is_no_heavy_fence) {
    const SimulationOptions options{.heavy_fences = false, .fences_available = false};
    EXPECT_EQ(wait_for_requests(1000, options, false), "");
    EXPECT_EQ(wait_for_requests(1000, options, true), "");
}
TEST(Slot, without_the_fence_a_completion_is_slept_through) {
    const SimulationOptions options{.heavy_fences = false};
    EXPECT_NE(wait_for_requests(3000, options, false).find("everybody sleeps"), std::string::npos);
    EXPECT_NE(wait_for_requests(3000, options, true).find("everybody sleeps"), std::string::npos);
}

/// Several ringers with work of their own, one sleeper, and the frequent side that only looks at
/// `hot`.
struct Mailbox {
    Bell bell;
    SimulatedWorld::Atom<std::uint32_t> rung{0};
    SimulatedWorld::Atom<std::uint32_t> hot{1};
    std::array<SimulatedWorld::Atom<std::uint32_t>, 2> rings{};

    void send(std::size_t from) {
        rings[from].store(rings[from].load(relaxed) + 1, release);
        SimulatedWorld::Fence::light();
        if (hot.load(relaxed) != 0) return;
        rung.fetch_or(1U << from, seq_cst);
        bell.ring();
    }
};

/// Senders may come as processes that fences do not reach: they say so before they send anything.
std::string sleep_beside_the_mailbox(std::uint64_t seeds, SimulationOptions options,
                                     bool say_so = false) {
    return try_seeds(seeds, options, [&](Simulation& simulation) {
        auto mailbox = std::make_unique<Mailbox>();
        constexpr std::uint32_t each = 4;
        for (std::size_t sender = 0; sender < 2; ++sender)
            simulation.thread([d = mailbox.get(), sender, say_so, &simulation] {
                if (say_so) d->bell.expect_missed_rings();
                for (std::uint32_t i = 0; i < each; ++i) {
                    d->send(sender);
                    for (unsigned pause = simulation.random(20); pause > 0; --pause)
                        SimulatedWorld::pause();
                }
            });
        simulation.thread([d = mailbox.get()] {
            std::uint32_t seen = 0;
            Naps naps;
            const auto came = [&] { return d->rings[0].load(acquire) + d->rings[1].load(acquire); };
            while (seen < 2 * each) {
                if (const std::uint32_t now = came(); now != seen) {
                    seen = now;
                    d->hot.store(1, relaxed);
                    continue;
                }
                d->bell.prepare();
                d->hot.store(0, relaxed);
                SimulatedWorld::Fence::heavy();
                if (came() == seen) d->bell.sleep(naps);
                d->bell.cancel();
            }
        });
        return mailbox;
    });
}

TEST(Doorbell, no_message_is_slept_through) { EXPECT_EQ(sleep_beside_the_mailbox(5000, {}), ""); }
TEST(Doorbell, no_message_is_slept_through_for_ever_where_there_is_no_heavy_fence) {
    EXPECT_EQ(sleep_beside_the_mailbox(1000, {.heavy_fences = false, .fences_available = false}),
              "");
}
TEST(Doorbell, without_the_fence_a_message_is_slept_through) {
    EXPECT_NE(sleep_beside_the_mailbox(5000, {.heavy_fences = false}).find("everybody sleeps"),
              std::string::npos);
}

TEST(Doorbell, no_message_of_senders_is_slept_through_for_ever_who_come_without_fences) {
    EXPECT_EQ(sleep_beside_the_mailbox(2000, {.heavy_fences = false}, true), "");
}

TEST(Naps, grow_while_nothing_comes) {
    Naps naps;
    EXPECT_EQ(naps.next(), heddle::sync::fallback_nap);
    std::chrono::nanoseconds all{0};
    for (int nap = 0; nap < 100; ++nap) all += naps.next();
    EXPECT_GT(all, 80 * Naps::most);
    EXPECT_EQ(naps.next(), Naps::most);
    naps.start_over();
    EXPECT_EQ(naps.next(), heddle::sync::fallback_nap);
}

TEST(Simulation, is_the_same_for_the_same_seed) {
    const auto once = [] { return sleep_beside_the_mailbox(5000, {.heavy_fences = false}); };
    EXPECT_EQ(once().substr(0, 60), once().substr(0, 60));
}

}  // namespace
