// SPDX-License-Identifier: BSD-3-Clause
#include "sync/covered_fence.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>

#include "sync/parking.hpp"
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

/// A process whose fence does not reach senders of other processes: it orders the caller only.
struct OwnProcess : SimulatedWorld {
    struct Fence : SimulatedWorld::Fence {
        static bool heavy_before_sleep() noexcept {
            SimulatedWorld::Atom<std::uint32_t> word{0};
            word.store(1, seq_cst);
            return available();
        }
    };
};
using Fence = heddle::sync::BasicCoveredFence<SimulatedWorld, OwnProcess>;
using Bell = heddle::sync::BasicDoorbell<SimulatedWorld>;

/// A lock that passes no heavy fence, which would hide that one is missing.
class SpinLock {
public:
    void lock() {
        while (word_.exchange(1, acquire) != 0) SimulatedWorld::yield();
    }
    void unlock() { word_.store(0, release); }

private:
    SimulatedWorld::Atom<std::uint32_t> word_{0};
};

/// Rings of senders in other processes, and the threads of the receiver (HotRings::cool_idle() and
/// warm()).
struct Receiver {
    static constexpr std::size_t senders = 2;
    static constexpr std::uint32_t each = 6;

    struct Ring {
        SimulatedWorld::Atom<std::uint32_t> sent{0};
        SimulatedWorld::Atom<std::uint32_t> hot{0};
        std::uint32_t seen = 0;     // guarded by lock, as all below
        std::uint32_t to_warm = 0;  // messages to come before it is hot
    };
    Bell bell;
    SimulatedWorld::Atom<std::uint32_t> rung{0};
    std::array<Ring, senders> rings;
    SimulatedWorld::Atom<std::uint32_t> leader_asleep{0};  // set before it cools, with the lock
    SpinLock lock;
    Fence fence;
    bool forget_to_uncover = false;

    void send(std::size_t from) {
        Ring& ring = rings[from];
        ring.sent.store(ring.sent.load(relaxed) + 1, release);
        SimulatedWorld::Fence::light();
        if (ring.hot.load(relaxed) != 0) return;
        rung.fetch_or(1U << from, seq_cst);
        bell.ring();
    }
    /// Returns true if there was a message.
    bool look() {
        lock.lock();
        bool moved = false;
        rung.exchange(0, seq_cst);
        for (Ring& ring : rings) {
            const std::uint32_t sent = ring.sent.load(acquire);
            if (sent == ring.seen) continue;
            ring.seen = sent;
            moved = true;
            if (ring.hot.load(relaxed) != 0 || leader_asleep.load(relaxed) != 0) continue;
            if (ring.to_warm == 0)
                ring.hot.store(1, relaxed);
            else
                --ring.to_warm;
        }
        lock.unlock();
        return moved;
    }
    bool all_seen() {
        lock.lock();
        bool all = true;
        for (const Ring& ring : rings) all = all && ring.seen == each;
        lock.unlock();
        return all;
    }
    void cool(std::uint32_t to_warm) {
        lock.lock();
        for (Ring& ring : rings) {
            if (ring.hot.load(relaxed) != 0) {
                ring.hot.store(0, relaxed);
                if (!forget_to_uncover) fence.uncover();
            }
            ring.to_warm = to_warm;
        }
        lock.unlock();
    }
    bool something_came() {
        if (rung.load(seq_cst) != 0) return true;
        lock.lock();
        bool came = false;
        for (const Ring& ring : rings) came = came || ring.sent.load(acquire) != ring.seen;
        lock.unlock();
        return came;
    }
    /// Runs the thread that sleeps at the bell.
    void lead(std::uint32_t to_warm) {
        Naps naps;
        while (!all_seen()) {
            if (look()) continue;
            bell.prepare();
            leader_asleep.store(1, relaxed);
            cool(to_warm);
            fence.pass_before_sleep();
            if (!something_came() && !all_seen()) bell.sleep(naps);
            bell.cancel();
            leader_asleep.store(0, relaxed);
        }
    }
    /// Runs another thread of the process, which cools, passes its fence, looks, and goes on.
    void pass_by() {
        look();
        cool(1);
        fence.pass_before_sleep();
        look();
        if (all_seen()) bell.ring();
    }
};

std::string receive(std::uint64_t seeds, SimulationOptions options, bool forget_to_uncover,
                    bool another_thread) {
    return try_seeds(seeds, options, [&](Simulation& simulation) {
        auto receiver = std::make_unique<Receiver>();
        receiver->forget_to_uncover = forget_to_uncover;
        for (std::size_t sender = 0; sender < Receiver::senders; ++sender)
            simulation.thread([r = receiver.get(), sender, &simulation] {
                for (std::uint32_t i = 0; i < Receiver::each; ++i) {
                    r->send(sender);
                    for (unsigned pause = simulation.random(30); pause > 0; --pause)
                        SimulatedWorld::pause();
                }
            });
        simulation.thread([r = receiver.get(), &simulation] { r->lead(simulation.random(3)); });
        if (another_thread)
            simulation.thread([r = receiver.get(), &simulation] {
                for (int i = 0; i < 3; ++i) {
                    for (unsigned pause = simulation.random(30); pause > 0; --pause)
                        SimulatedWorld::pause();
                    r->pass_by();
                }
            });
        return receiver;
    });
}

TEST(CoveredFence, no_message_is_slept_through) { EXPECT_EQ(receive(5000, {}, false, false), ""); }
TEST(CoveredFence, no_message_is_slept_through_where_two_threads_cool_rings) {
    EXPECT_EQ(receive(5000, {}, false, true), "");
}
TEST(CoveredFence, a_store_that_is_not_told_of_is_slept_through) {
    EXPECT_NE(receive(5000, {}, true, false).find("everybody sleeps"), std::string::npos);
}
TEST(CoveredFence, is_needed) {
    EXPECT_NE(receive(5000, {.heavy_fences = false}, false, false).find("everybody sleeps"),
              std::string::npos);
}

struct Counted : SimulatedWorld {
    static inline int fences = 0;
    struct Fence : SimulatedWorld::Fence {
        static bool heavy_before_sleep() noexcept {
            ++fences;
            return true;
        }
    };
};

TEST(CoveredFence, is_passed_once_for_each_store) {
    heddle::sync::BasicCoveredFence<Counted, OwnProcess> fence;
    Counted::fences = 0;
    for (int i = 0; i < 5; ++i) fence.pass_before_sleep();
    EXPECT_EQ(Counted::fences, 0);
    for (int store = 1; store <= 3; ++store) {
        fence.uncover();
        EXPECT_FALSE(fence.is_covered());
        for (int i = 0; i < 5; ++i) fence.pass_before_sleep();
        EXPECT_EQ(Counted::fences, store);
        EXPECT_TRUE(fence.is_covered());
    }
}

}  // namespace
