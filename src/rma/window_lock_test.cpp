// SPDX-License-Identifier: BSD-3-Clause
#include "rma/window_lock.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>

#include "rma/whole_lock.hpp"
#include "testing/simulation.hpp"

namespace {

using heddle::testing::SimulatedAtom;
using heddle::testing::SimulatedWorld;
using heddle::testing::Simulation;
using heddle::testing::try_seeds;

using Lock = heddle::rma::BasicWindowLock<SimulatedWorld>;
using Whole = heddle::rma::BasicWholeLock<SimulatedWorld>;

constexpr std::uint32_t processes = 4;

/// Processes that share a lock, and messages between them: each is one that is heard once.
struct Node {
    Lock lock;
    std::array<SimulatedAtom<std::uint32_t>, processes> places;
    std::array<SimulatedAtom<std::uint32_t>, processes> messages;
    int readers = 0, writers = 0;
    Lock::Ticket last_writer = 0, last_ticket = 0;  ///< of those that have come in
    bool any_writer = false, any_ticket = false;

    Lock::Places all_places() { return {places.data(), processes}; }

    void tell(std::uint32_t entry) {
        if (entry == Lock::nobody) return;
        auto& message = messages[static_cast<std::size_t>(Lock::rank_in(entry))];
        message.fetch_add(1);
        SimulatedWorld::wake_one(message);
    }
    void hear(std::size_t me) {
        while (messages[me].load() == 0) SimulatedWorld::wait(messages[me], 0);
        messages[me].fetch_sub(1);
    }

    bool admits(Lock::Ticket ticket, bool writer) const {
        return writer ? lock.admits_writer(ticket) : lock.admits_reader(ticket);
    }
    void wait(std::size_t me, Lock::Ticket ticket, bool writer) {
        while (!admits(ticket, writer)) {
            lock.wait_in_place(ticket, static_cast<std::int32_t>(me), writer, all_places());
            if (admits(ticket, writer) && lock.stop_waiting(ticket, all_places())) break;
            hear(me);
        }
    }

    /// Nobody who asked later has come in before, unless both read.
    void check_order(Lock::Ticket ticket, bool writer) {
        if (any_writer && ticket < last_writer) Simulation::fail("a writer has overtaken");
        if (writer && any_ticket && ticket < last_ticket)
            Simulation::fail("a writer was overtaken");
        last_ticket = any_ticket ? std::max(last_ticket, ticket) : ticket;
        any_ticket = true;
        if (!writer) return;
        last_writer = ticket;
        any_writer = true;
    }

    void read(std::size_t me) {
        const Lock::Ticket ticket = lock.take_ticket();
        wait(me, ticket, false);
        if (writers != 0) Simulation::fail("a reader is with a writer");
        ++readers;
        check_order(ticket, false);
        tell(lock.come_in(ticket, all_places()));
        Simulation::point();
        --readers;
        tell(lock.leave_as_reader(all_places()));
    }
    void write(std::size_t me) {
        const Lock::Ticket ticket = lock.take_ticket();
        wait(me, ticket, true);
        if (writers != 0 || readers != 0) Simulation::fail("a writer is not alone");
        ++writers;
        check_order(ticket, true);
        Simulation::point();
        --writers;
        tell(lock.leave_as_writer(ticket, all_places()));
    }
};

/// Of so many rounds one is a write; 0: none is.
std::string contend(std::uint64_t seeds, unsigned threads, unsigned one_writes_in) {
    return try_seeds(seeds, {}, [&](Simulation& simulation) {
        auto node = std::make_unique<Node>();
        for (unsigned me = 0; me < threads; ++me)
            simulation.thread([&simulation, n = node.get(), me, one_writes_in] {
                for (int round = 0; round < 5; ++round) {
                    if (one_writes_in != 0 && simulation.random(one_writes_in) == 0)
                        n->write(me);
                    else
                        n->read(me);
                }
                if (n->messages[me].load() != 0)
                    Simulation::fail("a message has come that nobody waits for");
            });
        return node;
    });
}

TEST(WindowLock, writers_are_alone_and_in_order) {
    EXPECT_EQ(contend(3000, 2, 1), "");
    EXPECT_EQ(contend(3000, 4, 1), "");
}

TEST(WindowLock, readers_share_and_nobody_is_overtaken) {
    EXPECT_EQ(contend(3000, 2, 2), "");
    EXPECT_EQ(contend(3000, 4, 2), "");
    EXPECT_EQ(contend(3000, 4, 4), "");
    EXPECT_EQ(contend(500, 4, 0), "");
}

constexpr std::size_t targets = 2;

/// A window of several targets, each with its lock, and the lock of all: as in rma/locking.cpp.
struct Targets {
    struct Target {
        Lock lock;
        std::array<SimulatedAtom<std::uint32_t>, processes> places;
        std::array<SimulatedAtom<std::uint32_t>, processes> messages;  ///< about this target
        SimulatedAtom<std::uint32_t> writer_waits;
        int readers = 0, writers = 0;
    };
    std::array<Target, targets> each;
    Whole whole;
    int readers_of_all = 0;

    static Lock::Places places_of(Target& target) { return {target.places.data(), processes}; }
    static void tell(Target& target, std::int32_t rank) {
        if (rank < 0) return;
        auto& message = target.messages[static_cast<std::size_t>(rank)];
        message.fetch_add(1);
        SimulatedWorld::wake_one(message);
    }
    static void hear(Target& target, std::size_t me) {
        auto& message = target.messages[me];
        while (message.load() == 0) SimulatedWorld::wait(message, 0);
        message.fetch_sub(1);
    }
    static Lock::Ticket wait(Target& target, std::size_t me, bool writer) {
        Lock& lock = target.lock;
        const Lock::Ticket ticket = lock.take_ticket();
        const auto admitted = [&] {
            return writer ? lock.admits_writer(ticket) : lock.admits_reader(ticket);
        };
        while (!admitted()) {
            lock.wait_in_place(ticket, static_cast<std::int32_t>(me), writer, places_of(target));
            if (admitted() && lock.stop_waiting(ticket, places_of(target))) break;
            hear(target, me);
        }
        return ticket;
    }
    static void begin_reading(Target& target, std::size_t me) {
        const Lock::Ticket ticket = wait(target, me, false);
        tell(target, Lock::rank_in(target.lock.come_in(ticket, places_of(target))));
    }
    static void end_reading(Target& target) {
        tell(target, Lock::rank_in(target.lock.leave_as_reader(places_of(target))));
    }

    void read(std::size_t me, Target& target) const {
        begin_reading(target, me);
        if (target.writers != 0) Simulation::fail("a reader is with a writer");
        ++target.readers;
        Simulation::point();
        --target.readers;
        end_reading(target);
    }
    void write(std::size_t me, Target& target) {
        const Lock::Ticket ticket = wait(target, me, true);
        if (!whole.close()) {
            Whole::wait_in_place(target.writer_waits, static_cast<std::int32_t>(me));
            if (!whole.is_empty() || !Whole::stop_waiting(target.writer_waits)) hear(target, me);
        }
        if (target.writers != 0 || target.readers != 0 || readers_of_all != 0)
            Simulation::fail("a writer is not alone");
        ++target.writers;
        Simulation::point();
        if (readers_of_all != 0) Simulation::fail("a reader of all has joined a writer");
        --target.writers;
        tell(target, Lock::rank_in(target.lock.leave_as_writer(ticket, places_of(target))));
    }
    void read_all(std::size_t me) {
        if (!whole.enter()) {
            for (Target& target : each) begin_reading(target, me);
            whole.enter_and_open();
            for (Target& target : each) end_reading(target);
        }
        for (const Target& target : each)
            if (target.writers != 0) Simulation::fail("a reader of all is with a writer");
        ++readers_of_all;
        Simulation::point();
        --readers_of_all;
        if (!whole.leave()) return;
        for (Target& target : each) tell(target, Whole::take_waiter(target.writer_waits));
    }
};

/// Processes lock all targets, or one of them, to read or to write.
std::string contend_for_all(std::uint64_t seeds, unsigned threads, unsigned one_writes_in) {
    return try_seeds(seeds, {}, [&](Simulation& simulation) {
        auto window = std::make_unique<Targets>();
        for (unsigned me = 0; me < threads; ++me)
            simulation.thread([&simulation, w = window.get(), me, one_writes_in] {
                for (int round = 0; round < 4; ++round) {
                    Targets::Target& target = w->each[simulation.random(targets)];
                    if (simulation.random(one_writes_in) == 0)
                        w->write(me, target);
                    else if (simulation.random(3) == 0)
                        w->read(me, target);
                    else
                        w->read_all(me);
                }
                for (const Targets::Target& target : w->each)
                    if (target.messages[me].load() != 0)
                        Simulation::fail("a message has come that nobody waits for");
            });
        return window;
    });
}

TEST(WindowLock, locks_of_all_targets_exclude_writers_of_any) {
    EXPECT_EQ(contend_for_all(3000, 2, 2), "");
    EXPECT_EQ(contend_for_all(3000, 3, 2), "");
    EXPECT_EQ(contend_for_all(3000, 4, 2), "");
    EXPECT_EQ(contend_for_all(3000, 4, 4), "");
}

TEST(WindowLock, is_free_when_all_have_left) {
    heddle::rma::WindowLock lock;
    std::array<std::atomic<std::uint32_t>, 1> place{};
    const heddle::rma::WindowLock::Places places{place.data(), 1};
    EXPECT_FALSE(lock.in_use());
    const auto ticket = lock.take_ticket();
    EXPECT_TRUE(lock.admits_writer(ticket));
    EXPECT_TRUE(lock.in_use());
    EXPECT_EQ(lock.leave_as_writer(ticket, places), lock.nobody);
    EXPECT_FALSE(lock.in_use());
}

}  // namespace
