// SPDX-License-Identifier: BSD-3-Clause
#include "rma/window_lock.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>

#include "rma/whole_lock.hpp"
#include "sync/mutex.hpp"
#include "testing/simulation.hpp"

namespace {

using heddle::testing::SimulatedAtom;
using heddle::testing::SimulatedWorld;
using heddle::testing::Simulation;
using heddle::testing::try_seeds;

using Lock = heddle::rma::BasicWindowLock<SimulatedWorld>;
using Whole = heddle::rma::BasicWholeLock<SimulatedWorld, heddle::sync::BasicMutex<SimulatedWorld>>;
using heddle::rma::WholeParty;
using heddle::rma::WholeState;

constexpr std::uint32_t processes = 4;

/// Processes that share a lock, and messages between them. Each message is received once.
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

    /// Checks that no process that asked later has come in before, unless both read.
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

/// Runs processes that contend for the lock. One of `one_writes_in` rounds is a write; if it is 0,
/// none is.
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

constexpr std::size_t targets = 3;

/// The part that is taken out of the protocol, so that the simulation finds the fault that it
/// prevents.
enum class Without : std::uint8_t {
    nothing,
    looking_again,  ///< after a message
    loosening,      ///< when a reader of all waits
    overtaking,     ///< by a process that has another lock
};

/// A window on one or two nodes. Each target has a lock, and each node one of all targets, as in
/// rma/locking.cpp and rma/whole_locking.cpp.
struct Targets {
    struct Target {
        Lock lock;
        std::array<SimulatedAtom<std::uint32_t>, processes> places;
        std::array<SimulatedAtom<std::uint32_t>, processes> messages;  ///< about this target
        int readers = 0, writers = 0;
    };
    struct AtNode {
        Whole whole;
        std::array<WholeParty, processes> parties{};
        std::array<std::array<SimulatedAtom<std::uint32_t>, processes>, heddle::rma::whole_kinds>
            messages;
    };
    std::array<Target, targets> each;
    std::array<AtNode, 2> of_nodes;
    std::size_t nodes = 1;
    Without without = Without::nothing;
    int readers_of_all = 0;

    AtNode& node_of(std::size_t target) { return of_nodes[target % nodes]; }
    static Lock::Places places_of(Target& target) { return {target.places.data(), processes}; }
    static Whole::Parties parties_of(AtNode& node) { return {node.parties.data(), processes}; }

    static void send(SimulatedAtom<std::uint32_t>& message) {
        message.fetch_add(1);
        SimulatedWorld::wake_one(message);
    }
    static void hear(SimulatedAtom<std::uint32_t>& message) {
        while (message.load() == 0) SimulatedWorld::wait(message, 0);
        message.fetch_sub(1);
    }
    static void tell(Target& target, std::uint32_t entry) {
        if (entry != Lock::nobody)
            send(target.messages[static_cast<std::size_t>(Lock::rank_in(entry))]);
    }
    static void tell(AtNode& node, bool tells) {
        Whole::Told told;
        while (tells && node.whole.take_untold(parties_of(node), told))
            send(node.messages[told.kind][static_cast<std::size_t>(told.rank)]);
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
            hear(target.messages[me]);
        }
        return ticket;
    }

    template <class Inside>
    void read(std::size_t me, Target& target, Inside inside) const {
        const Lock::Ticket ticket = wait(target, me, false);
        tell(target, target.lock.come_in(ticket, places_of(target)));
        if (target.writers != 0) Simulation::fail("a reader is with a writer");
        ++target.readers;
        Simulation::point();
        inside();
        --target.readers;
        tell(target, target.lock.leave_as_reader(places_of(target)));
    }

    /// Locks a target to write. `inside` runs with the lock.
    template <class Inside>
    void write(std::size_t me, std::size_t number, bool holds, Inside inside) {
        Target& target = each[number];
        AtNode& node = node_of(number);
        const auto rank = static_cast<std::int32_t>(me);
        const bool overtakes = holds && without != Without::overtaking;
        const auto kind = overtakes ? heddle::rma::holder_in : heddle::rma::writer_in;
        if (node.whole.enter_as_writer(parties_of(node), rank, overtakes) != WholeState::in) do
                hear(node.messages[kind][me]);
            while (!node.whole.take_grant(parties_of(node), rank, kind));
        const Lock::Ticket ticket = wait(target, me, true);
        check_alone(target);
        ++target.writers;
        Simulation::point();
        inside();
        if (readers_of_all != 0) Simulation::fail("a reader of all has joined a writer");
        --target.writers;
        tell(target, target.lock.leave_as_writer(ticket, places_of(target)));
        tell(node, node.whole.leave_as_writer(parties_of(node)));
    }
    void check_alone(const Target& target) const {
        if (target.writers != 0 || target.readers != 0 || readers_of_all != 0)
            Simulation::fail("a writer is not alone");
    }

    using States = std::array<WholeState, 2>;

    void loosen(States& states) {
        if (without == Without::loosening) return;
        for (std::size_t i = 0; i < nodes; ++i) {
            if (states[i] != WholeState::in) continue;
            tell(of_nodes[i], of_nodes[i].whole.loosen(parties_of(of_nodes[i])));
            states[i] = WholeState::loose;
        }
    }
    void enter(std::size_t i, std::int32_t rank, States& states) {
        AtNode& node = of_nodes[i];
        states[i] = node.whole.enter(parties_of(node), rank);
        if (states[i] != WholeState::queued) return;
        loosen(states);
        do hear(node.messages[heddle::rma::readers_in][static_cast<std::size_t>(rank)]);
        while (!node.whole.take_grant(parties_of(node), rank, heddle::rma::readers_in));
        states[i] = WholeState::loose;
    }
    void be_firm_everywhere(std::int32_t rank, States& states) {
        for (std::size_t i = 0; i < nodes;) {
            AtNode& node = of_nodes[i];
            if (states[i] != WholeState::in && node.whole.be_firm(parties_of(node), rank))
                states[i] = WholeState::in;
            if (states[i] == WholeState::in) {
                ++i;
                continue;
            }
            loosen(states);
            hear(node.messages[heddle::rma::readers_in][static_cast<std::size_t>(rank)]);
            if (without == Without::looking_again) states[i] = WholeState::in;
            if (without != Without::looking_again) i = 0;
        }
    }
    void read_all(std::size_t me) {
        const auto rank = static_cast<std::int32_t>(me);
        States states{};
        for (std::size_t i = 0; i < nodes; ++i) enter(i, rank, states);
        be_firm_everywhere(rank, states);
        for (const Target& target : each)
            if (target.writers != 0) Simulation::fail("a reader of all is with a writer");
        ++readers_of_all;
        Simulation::point();
        --readers_of_all;
        for (std::size_t i = 0; i < nodes; ++i)
            tell(of_nodes[i], of_nodes[i].whole.leave(parties_of(of_nodes[i])));
    }

    /// Takes two locks at once. Writers are counted by their first lock, readers are not.
    void write_with(bool reads_first, std::size_t me, std::size_t first, std::size_t second) {
        const auto write_second = [&] { write(me, second, true, [] {}); };
        if (reads_first)
            read(me, each[first], write_second);
        else
            write(me, first, false, write_second);
    }
    void check_messages(std::size_t me) const {
        bool some = false;
        for (const Target& target : each) some = some || target.messages[me].load() != 0;
        for (const AtNode& node : of_nodes)
            for (const auto& messages : node.messages) some = some || messages[me].load() != 0;
        if (some) Simulation::fail("a message has come that nobody waits for");
    }
};

struct Contest {
    unsigned threads, one_writes_in;
    std::size_t nodes = 1;
    bool two_locks = false;  ///< writers hold two, of falling ranks
    Without without = Without::nothing;
};

/// Locks all targets, one of them to read or to write, or two to write.
void take_part(Targets& window, Simulation& simulation, std::size_t me, const Contest& contest) {
    for (int round = 0; round < 4; ++round) {
        const std::size_t target = simulation.random(targets);
        if (simulation.random(contest.one_writes_in) == 0) {
            if (contest.two_locks && target != 0)
                window.write_with(simulation.random(2) == 0, me, target,
                                  simulation.random(static_cast<unsigned>(target)));
            else
                window.write(me, target, false, [] {});
        } else if (simulation.random(3) == 0) {
            window.read(me, window.each[target], [] {});
        } else {
            window.read_all(me);
        }
    }
    if (contest.without == Without::nothing) window.check_messages(me);
}

std::string contend_for_all(std::uint64_t seeds, const Contest& contest) {
    return try_seeds(seeds, {}, [&](Simulation& simulation) {
        auto window = std::make_unique<Targets>();
        window->nodes = contest.nodes;
        window->without = contest.without;
        for (unsigned me = 0; me < contest.threads; ++me)
            simulation.thread([&simulation, w = window.get(), me, contest] {
                take_part(*w, simulation, me, contest);
            });
        return window;
    });
}

TEST(WindowLock, locks_of_all_targets_exclude_writers_of_any) {
    EXPECT_EQ(contend_for_all(2000, {2, 2}), "");
    EXPECT_EQ(contend_for_all(2000, {3, 2}), "");
    EXPECT_EQ(contend_for_all(4000, {4, 2}), "");
    EXPECT_EQ(contend_for_all(2000, {4, 4}), "");
}

TEST(WindowLock, a_process_with_two_exclusive_locks_does_not_wait_for_readers_of_all_for_ever) {
    EXPECT_EQ(contend_for_all(2000, {2, 2, 1, true}), "");
    EXPECT_EQ(contend_for_all(4000, {4, 2, 1, true}), "");
    EXPECT_EQ(contend_for_all(2000, {4, 4, 1, true}), "");
}

TEST(WindowLock, readers_of_all_on_two_nodes_wait_for_nobody_who_waits_for_them) {
    EXPECT_EQ(contend_for_all(2000, {2, 2, 2}), "");
    EXPECT_EQ(contend_for_all(2000, {4, 2, 2}), "");
    EXPECT_EQ(contend_for_all(2000, {2, 2, 2, true}), "");
    EXPECT_EQ(contend_for_all(4000, {4, 2, 2, true}), "");
    EXPECT_EQ(contend_for_all(2000, {4, 4, 2, true}), "");
}

/// If one part of the protocol is missing, the simulation finds a fault.
TEST(WindowLock, without_a_part_of_the_protocol_something_is_found) {
    EXPECT_NE(contend_for_all(4000, {4, 2, 1, true, Without::overtaking}), "");
    EXPECT_NE(contend_for_all(4000, {4, 2, 2, true, Without::loosening}), "");
    EXPECT_NE(contend_for_all(20000, {4, 2, 2, true, Without::looking_again}), "");
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
