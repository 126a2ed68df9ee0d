// SPDX-License-Identifier: BSD-3-Clause
#include "rma/window_lock.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>

#include "testing/simulation.hpp"

namespace {

using heddle::testing::SimulatedAtom;
using heddle::testing::SimulatedWorld;
using heddle::testing::Simulation;
using heddle::testing::try_seeds;

using Lock = heddle::rma::BasicWindowLock<SimulatedWorld>;

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
