// SPDX-License-Identifier: BSD-3-Clause
#include "progress/lot.hpp"

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

constexpr std::size_t waiters = 3;

struct Thread {
    heddle::sync::BasicSlot<SimulatedWorld, SimulatedWorld> slot;
    Thread* next = nullptr;
    SimulatedWorld::Atom<std::uint32_t> sent{0}, arrived{0};
    std::uint32_t wanted = 1;

    bool holds() const { return arrived.load(acquire) >= wanted; }
    SimulatedWorld::Atom<Thread*> waiter{nullptr};
};

/// Work comes from outside. The thread that makes progress does it; each piece releases one thread.
/// The steps are those of park() and lead() in progress/wait.hpp.
struct Process {
    heddle::progress::BasicLot<SimulatedWorld, Thread> lot;
    heddle::sync::BasicDoorbell<SimulatedWorld> bell;
    heddle::sync::BasicMutex<SimulatedWorld> instance;
    SimulatedWorld::Atom<std::uint32_t> rung{0};
    std::array<Thread, waiters> threads;
    int leaders = 0;

    void send(std::size_t to) {
        threads[to].sent.fetch_add(1);
        rung.fetch_or(1U << to, seq_cst);
        bell.ring();
    }
    void poll() {
        if (rung.load(relaxed) == 0 || !instance.try_lock()) return;
        const std::uint32_t came = rung.exchange(0, seq_cst);
        std::array<Thread*, waiters> wake{};
        for (std::size_t i = 0; i < waiters; ++i) {
            if ((came >> i & 1) == 0) continue;
            threads[i].arrived.store(threads[i].sent.load(acquire), release);
            SimulatedWorld::Fence::light();
            wake[i] = threads[i].waiter.load(relaxed);
        }
        instance.unlock();
        for (Thread* waiter : wake)
            if (waiter != nullptr) waiter->slot.signal();
    }
    void lead(Thread& me, Naps& naps) {
        if (++leaders != 1) Simulation::fail("two threads lead");
        while (!me.holds()) {
            bell.prepare();
            if (!me.slot.enter_bell(bell)) break;
            SimulatedWorld::Fence::heavy();
            if (rung.load(seq_cst) == 0 && !me.holds()) bell.sleep(naps);
            bell.cancel();
            me.slot.leave_bell();
            poll();
            if (me.slot.signalled()) break;
        }
        bell.cancel();
        --leaders;
    }
    void park(Thread& me) {
        lot.enter(me);
        Naps naps;
        for (bool leading = false;;) {
            me.slot.prepare();
            me.waiter.store(&me, relaxed);
            SimulatedWorld::Fence::heavy();
            poll();
            if (me.holds()) {
                me.waiter.store(nullptr, relaxed);
                return lot.leave(me, leading);
            }
            leading = leading || lot.try_lead();
            if (leading)
                lead(me, naps);
            else
                me.slot.sleep(naps);
        }
    }
};

std::string hand_the_lead_over(std::uint64_t seeds, SimulationOptions options) {
    return try_seeds(seeds, options, [&](Simulation& simulation) {
        auto process = std::make_unique<Process>();
        for (Thread& thread : process->threads)
            simulation.thread([p = process.get(), &thread, &simulation] {
                for (int round = 0; round < 3; ++round) {
                    for (unsigned busy = simulation.random(30); busy > 0; --busy)
                        SimulatedWorld::pause();
                    if (!thread.holds()) p->park(thread);
                    ++thread.wanted;
                }
            });
        simulation.thread([p = process.get(), &simulation] {
            // Releases each thread three times, in any order, without waiting for any of them.
            std::array<int, waiters> left{3, 3, 3};
            for (int all = 3 * static_cast<int>(waiters); all > 0;) {
                const std::size_t to = simulation.random(waiters);
                for (unsigned pause = simulation.random(30); pause > 0; --pause)
                    SimulatedWorld::pause();
                if (left[to] == 0) continue;
                p->send(to);
                --left[to];
                --all;
            }
        });
        return process;
    });
}

TEST(Lot, somebody_leads_as_long_as_threads_are_parked) {
    EXPECT_EQ(hand_the_lead_over(4000, {}), "");
}

TEST(Lot, without_fences_a_thread_sleeps_on) {
    EXPECT_NE(hand_the_lead_over(4000, {.heavy_fences = false}).find("everybody sleeps"),
              std::string::npos);
}

}  // namespace
