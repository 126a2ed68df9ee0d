// SPDX-License-Identifier: BSD-3-Clause
/// Order through several lanes that delay at random. Senders have threads that synchronise. A
/// receiver matches as MPI says, by the rules of transport/order.hpp and nothing else.

#include "transport/order.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <list>
#include <optional>
#include <random>
#include <thread>

#include "testing/network.hpp"
#include "testing/watchdog.hpp"

namespace heddle::transport {
namespace {

using testing::Network;
using testing::NetworkLane;
using testing::Watchdog;

constexpr unsigned lanes = 4;
constexpr std::int32_t tags = 8, any = -1;
constexpr std::uint32_t context = 5;
constexpr std::int32_t ahead = 60;  ///< how far senders may be ahead of the receiver
enum Kind : std::uint8_t { data = 1, lane_open, number_ask, numbered_from };

struct Lanes4 {
    std::mutex lock[lanes];
    std::unique_ptr<NetworkLane> lane[lanes];

    Lanes4(Network& network, Peer process, Peer processes) {
        for (auto& one : lane)
            one = std::make_unique<NetworkLane>(Identity{process, processes, {1, 2}}, Patience{},
                                                network);
    }
    void connect(Peer peer, Lanes4& other) {
        for (unsigned i = 0; i < lanes; ++i) lane[i]->connect(peer, other.lane[i]->address());
    }
};

/// A process with threads that sends to process 0.
class Sender {
public:
    Sender(Network& network, Peer process, Peer processes) : own_(network, process, processes) {}
    Lanes4& own() { return own_; }

    void open(unsigned lane) {
        std::lock_guard guard(own_.lock[0]);
        if (order_.is_open(lane)) return;
        order_.open(lane);
        put(0, header(lane_open, lane, 0));
    }
    void send(std::int32_t tag, std::int32_t value) {
        Header message = header(data, context, 0);
        message.tag = tag;
        message.source = value;
        message.stamp = stamps_.fetch_add(1);  // stands for the clock of this host
        const auto lane = static_cast<unsigned>(tag) % lanes;
        {
            std::lock_guard guard(own_.lock[0]);
            if (lane == 0 || !order_.is_open(lane)) return place_and_put(0, message);
        }
        std::lock_guard guard(own_.lock[lane]);
        place_and_put(lane, message);
    }
    /// Makes progress, and answers what it has been asked.
    void serve() {
        for (unsigned i = 0; i < lanes; ++i) {
            std::lock_guard guard(own_.lock[i]);
            poll(i);
        }
        if (!asked_.exchange(false) || !order_.number(context)) return;
        Lanes all = 0;
        {
            std::lock_guard guard(own_.lock[0]);
            all = order_.open_lanes();
            put(0, header(numbered_from, context, all));
        }
        for (unsigned i = 1; i < lanes; ++i) {
            if ((all >> i & 1) == 0) continue;
            std::lock_guard guard(own_.lock[i]);
            put(i, header(numbered_from, context, 0));
        }
    }
    bool owes() {
        for (unsigned i = 0; i < lanes; ++i) {
            std::lock_guard guard(own_.lock[i]);
            if (own_.lane[i]->owes()) return true;
        }
        return false;
    }

private:
    struct Consumer {
        std::atomic<bool>& asked;
        bool arrived(Peer, Header& header) noexcept {
            if (header.kind == number_ask) asked.store(true);
            return true;
        }
        void read_over(std::uint64_t, bool) noexcept {}
        void lost(Peer, std::string_view why) noexcept { ADD_FAILURE() << why; }
        void left(Peer) noexcept {}
        void stranger() noexcept { ADD_FAILURE() << "a stranger"; }
    };

    static Header header(std::uint8_t kind, std::uint32_t context, std::uint64_t stamp) {
        Header made{};
        made.kind = kind;
        made.context = context;
        made.stamp = stamp;
        return made;
    }
    void poll(unsigned lane) {
        Consumer consumer{asked_};
        own_.lane[lane]->poll(consumer);
    }
    void put(unsigned lane, const Header& message) {
        while (own_.lane[lane]->post(0, message, {}, {}) == Post::retry) poll(lane);
    }
    void place_and_put(unsigned lane, Header& message) {
        order_.place(message);
        put(lane, message);
    }

    Lanes4 own_;
    OutgoingOrder order_;
    std::atomic<std::uint64_t> stamps_{1};
    std::atomic<bool> asked_{false};
};

/// Process 0: matches as MPI says (MPI 5.0, 3.5). Linear searches, no locks.
class Receiver {
public:
    Receiver(Network& network, Peer processes) : own_(network, 0, processes), from_(processes) {}
    Lanes4& own() { return own_; }

    struct Receive {
        Peer source;       ///< or any_source
        std::int32_t tag;  ///< or any
        std::optional<std::pair<Peer, std::int32_t>> got;
    };
    static constexpr Peer any_source = ~Peer{0};

    void post(Peer source, std::int32_t tag) {
        receives_.push_back({source, tag, {}});
        match();
    }
    /// Delivers a message of a process of this node: its messages come in order, by another path.
    void arrives_on_node(Peer peer, std::int32_t tag, std::int32_t value) {
        Header message{};
        message.kind = data;
        message.context = context;
        message.tag = tag;
        message.source = value;
        message.stamp = ++from_[peer].stamps;
        from_[peer].unexpected.push_back(message);
        match();
    }
    void poll() {
        for (unsigned i = 0; i < lanes; ++i) {
            Consumer consumer{*this, i};
            own_.lane[i]->poll(consumer);
        }
    }
    const std::deque<Receive>& receives() const { return receives_; }
    std::size_t taken() const { return taken_; }
    std::size_t held() const { return held_; }
    std::size_t waits() const { return waits_; }

private:
    struct Source {
        IncomingOrder order;
        std::list<Header> unexpected;
        std::list<Header> held[lanes];
        std::uint64_t stamps = 0;
    };
    struct Consumer {
        Receiver& receiver;
        unsigned lane;
        bool arrived(Peer peer, Header& header) noexcept {
            receiver.arrived(peer, lane, header);
            return true;
        }
        void read_over(std::uint64_t, bool) noexcept {}
        void lost(Peer, std::string_view why) noexcept { ADD_FAILURE() << why; }
        void left(Peer) noexcept {}
        void stranger() noexcept { ADD_FAILURE() << "a stranger"; }
    };

    void arrived(Peer peer, unsigned lane, const Header& header) {
        Source& from = from_[peer];
        if (!from.order.passes(lane)) {
            from.held[lane].push_back(header);
            ++held_;
            return;
        }
        look_at(from, lane, header);
        match();
    }
    void look_at(Source& from, unsigned lane, const Header& header) {
        if (header.kind == lane_open) {
            from.order.opened(header.context);
            for (const Header& before : from.held[header.context])
                look_at(from, header.context, before);
            from.held[header.context].clear();
        } else if (header.kind == numbered_from) {
            from.order.marked(header.context, lane, header.stamp);
        } else {
            from.order.arrived(header);
            from.unexpected.push_back(header);
        }
    }

    /// Gives each receive what it may have, in the order of their posts.
    void match() {
        // An earlier receive waits for what comes next there.
        std::vector<bool> closed(from_.size(), false);
        for (Receive& receive : receives_) {
            if (receive.got) continue;
            for (Peer peer = 1; peer < from_.size() && !receive.got; ++peer)
                if ((receive.source == any_source || receive.source == peer) && !closed[peer])
                    try_one(peer, receive);
            if (receive.got || receive.tag != any) continue;
            for (Peer peer = 1; peer < from_.size(); ++peer)
                if (receive.source == any_source || receive.source == peer) closed[peer] = true;
        }
    }
    void try_one(Peer peer, Receive& receive) {
        Source& from = from_[peer];
        auto first = from.unexpected.end();
        for (auto at = from.unexpected.begin(); at != from.unexpected.end(); ++at) {
            if (receive.tag != any && at->tag != receive.tag) continue;
            // Exact receives take what came first; one tag comes by one path.
            if (first == from.unexpected.end() ||
                (receive.tag == any && IncomingOrder::is_before(*at, *first)))
                first = at;
        }
        if (first == from.unexpected.end()) return;
        if (receive.tag == any && !from.order.in_turn(*first)) {
            ++waits_;
            if (from.order.must_ask(context)) ask(peer);
            return;
        }
        receive.got = {peer, first->source};
        from.unexpected.erase(first);
        ++taken_;
    }
    void ask(Peer peer) {
        Header question{};
        question.kind = number_ask;
        question.context = context;
        while (own_.lane[0]->post(peer, question, {}, {}) == Post::retry) own_.lane[0]->flush();
    }

    Lanes4 own_;
    std::vector<Source> from_;
    std::deque<Receive> receives_;
    std::size_t taken_ = 0, held_ = 0, waits_ = 0;
};

/// Runs threads of a sender, whose sends are in one order: the values ascend. Returns the tag of
/// each.
std::vector<std::int32_t> send_all(Sender& sender, unsigned seed, int threads, std::int32_t count,
                                   bool spreads, const std::atomic<std::int32_t>& allowed) {
    std::mutex turnstile;
    std::int32_t next = 0;
    std::vector<std::int32_t> sent(static_cast<std::size_t>(count));
    std::vector<std::thread> running;
    for (int t = 0; t < threads; ++t)
        running.emplace_back([&, t] {
            std::minstd_rand random(seed * 31 + static_cast<unsigned>(t));
            for (;;) {
                if (random() % 4 == 0) sender.serve();
                if (spreads && random() % 40 == 0) sender.open(1 + random() % (lanes - 1));
                std::lock_guard guard(turnstile);
                if (next == count) return;
                if (next >= allowed) continue;  // else all is sent before the receiver has asked
                for (unsigned burst = random() % 4; burst > 0 && next < count; --burst) {
                    const auto tag = static_cast<std::int32_t>(random() % tags);
                    sent[static_cast<std::size_t>(next)] = tag;
                    sender.send(tag, next++);
                }
            }
        });
    for (std::thread& thread : running) thread.join();
    return sent;
}

/// Returns the value that each receive gets: the rule of MPI, said plainly.
std::vector<std::int32_t> rule(const std::vector<std::int32_t>& sent,
                               const std::deque<Receiver::Receive>& receives) {
    std::vector<bool> gone(sent.size(), false);
    std::vector<std::int32_t> got;
    for (const Receiver::Receive& receive : receives) {
        std::size_t value = 0;
        while (value < sent.size() &&
               (gone[value] || (receive.tag != any && receive.tag != sent[value])))
            ++value;
        got.push_back(value < sent.size() ? static_cast<std::int32_t>(value) : -1);
        if (value < sent.size()) gone[value] = true;
    }
    return got;
}

TEST(OrderOverNetwork, of_receives_with_and_without_wildcards_is_the_only_right_one) {
    Watchdog watchdog("order over a network");
    std::size_t held = 0, waits = 0;
    for (unsigned seed = 1; seed <= 12; ++seed) {
        constexpr std::int32_t count = 400;
        Network network(seed);
        Receiver receiver(network, 2);
        Sender sender(network, 1, 2);
        receiver.own().connect(1, sender.own());
        sender.own().connect(0, receiver.own());
        std::atomic<bool> done{false};
        std::atomic<std::int32_t> allowed{ahead};
        std::vector<std::int32_t> sent;
        std::thread sending([&] {
            sent = send_all(sender, seed, 3, count, seed % 4 != 0, allowed);
            while (!done) sender.serve();
        });
        std::minstd_rand random(seed);
        const unsigned wildcards = seed % 3;  // none at first, some, many
        std::size_t open = 0, before = 0;
        while (receiver.taken() < count) {
            receiver.poll();
            open = receiver.receives().size() - receiver.taken();
            const bool late = receiver.taken() > count / 2;
            if (random() % 3 == 0 && open < 12) {
                const bool wild = open > 8 || (wildcards + (late ? 1U : 0U) > random() % 4);
                receiver.post(1, wild ? any : static_cast<std::int32_t>(random() % tags));
            }
            allowed = static_cast<std::int32_t>(receiver.taken()) + ahead;
            if (std::exchange(before, receiver.taken()) != receiver.taken()) watchdog.progress();
        }
        done = true;
        sending.join();
        const auto expected = rule(sent, receiver.receives());
        for (std::size_t i = 0; i < expected.size(); ++i) {
            const auto& got = receiver.receives()[i].got;
            ASSERT_EQ(got ? got->second : -1, expected[i]) << "receive " << i << ", seed " << seed;
        }
        held += receiver.held();
        waits += receiver.waits();
    }
    // Otherwise nothing was tested.
    EXPECT_GT(held, 0U);
    EXPECT_GT(waits, 0U);
}

TEST(OrderOverNetwork,
     of_each_sender_holds_with_any_source_over_node_and_network_without_common_stamps) {
    Watchdog watchdog("any source over node and network");
    for (unsigned seed = 1; seed <= 6; ++seed) {
        constexpr std::int32_t count = 200;
        constexpr Peer processes = 4;  // 1 and 2 by the network, 3 on this node
        Network network(seed);
        Receiver receiver(network, processes);
        Sender one(network, 1, processes), two(network, 2, processes);
        for (Sender* sender : {&one, &two}) sender->own().connect(0, receiver.own());
        receiver.own().connect(1, one.own());
        receiver.own().connect(2, two.own());
        std::atomic<bool> done{false};
        std::atomic<std::int32_t> allowed{ahead};
        const auto run = [&](Sender& sender, unsigned number, bool spreads) {
            send_all(sender, seed * 10 + number, 2, count, spreads, allowed);
            while (!done) sender.serve();
        };
        std::thread first(run, std::ref(one), 1, true), second(run, std::ref(two), 2, false);
        std::minstd_rand random(seed);
        std::int32_t on_node = 0;
        std::size_t before = 0;
        while (receiver.taken() < 3 * count) {
            receiver.poll();
            if (on_node < count && random() % 3 == 0)
                receiver.arrives_on_node(3, static_cast<std::int32_t>(random() % tags), on_node++);
            if (receiver.receives().size() < receiver.taken() + 4)
                receiver.post(Receiver::any_source, any);
            allowed = static_cast<std::int32_t>(receiver.taken() / 3) + ahead;
            if (std::exchange(before, receiver.taken()) != receiver.taken()) watchdog.progress();
        }
        done = true;
        first.join();
        second.join();
        std::int32_t next[processes] = {};
        for (const auto& receive : receiver.receives()) {
            if (!receive.got) continue;
            ASSERT_EQ(receive.got->second, next[receive.got->first]++) << "seed " << seed;
        }
    }
}

}  // namespace
}  // namespace heddle::transport
