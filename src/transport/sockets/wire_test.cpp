// SPDX-License-Identifier: BSD-3-Clause
/// What a wire of sockets does beside being one: strangers, shortages, sockets that are full, addresses.

#include "transport/sockets/wire.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <functional>
#include <set>

#include "testing/watchdog.hpp"

namespace heddle::testing {
namespace {

using namespace transport;
using namespace transport::sockets;

const Options beside{.same_machine = true, .other_hosts = false, .interface = {}, .rings = false};
const Options with_rings{.same_machine = true, .other_hosts = false, .interface = {}};
const Options over_tcp{.same_machine = false, .other_hosts = true, .interface = "lo"};

/// Takes what comes to a wire, and what is over.
struct Taken {
    std::vector<std::string> batches;
    std::vector<Operation*> kept;  ///< not released
    std::vector<int> sends;        ///< errors of those that are over
    bool keep = false;

    void take(sockets::Wire& wire) {
        std::array<WireEvent, 16> events;
        const std::size_t count = wire.events(events);
        for (const WireEvent& event : std::span(events).first(count)) {
            if (event.operation->what != Operation::What::receive) {
                sends.push_back(event.error);
                continue;
            }
            EXPECT_EQ(reinterpret_cast<std::uintptr_t>(event.received.data()) % 8, 0U);
            batches.emplace_back(reinterpret_cast<const char*>(event.received.data()),
                                 event.received.size());
            if (keep)
                kept.push_back(event.operation);
            else
                wire.release(*event.operation);
        }
    }
    void release(sockets::Wire& wire) {
        for (Operation* operation : kept) wire.release(*operation);
        kept.clear();
    }
};

std::string contents(std::size_t number, std::size_t bytes) {
    std::string text(bytes, '\0');
    for (std::size_t i = 0; i < bytes; ++i)
        text[i] = static_cast<char>(number * 131 + i * 7 + (i >> 9));
    return text;
}

SendBuffer buffer_with(const std::string& text) {
    SendBuffer buffer;
    buffer.what = Operation::What::send;
    buffer.bytes = std::make_unique_for_overwrite<std::byte[]>(most_batch);
    std::memcpy(buffer.bytes.get(), text.data(), text.size());
    return buffer;
}

Bytes bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

/// Both wires in turn, until the condition holds.
template <class Condition>
void until(const char* what, sockets::Wire& one, Taken& ones, sockets::Wire& other, Taken& others,
           Condition&& condition) {
    Watchdog watchdog(what);
    while (!condition()) {
        ones.take(one);
        others.take(other);
    }
}

/// A connection without a wire.
Descriptor connect_to(const std::string& address) {
    const Address parsed = Address::from_bytes(address);
    const Endpoint endpoint =
        parsed.name != 0 ? abstract_endpoint(parsed.name) : parsed.internet.front();
    Descriptor made(socket(endpoint.family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(connect(made.number(), endpoint.get(), endpoint.length), 0) << std::strerror(errno);
    return made;
}

template <class Value>
void say(const Descriptor& socket, const Value& value) {
    EXPECT_EQ(::send(socket.number(), &value, sizeof value, MSG_NOSIGNAL),
              static_cast<ssize_t>(sizeof value));
}

/// No further descriptors for this process.
class Shortage {
public:
    Shortage() {
        getrlimit(RLIMIT_NOFILE, &before_);
        rlimit none = before_;
        const Descriptor next(fcntl(0, F_DUPFD_CLOEXEC, 0));
        none.rlim_cur = static_cast<rlim_t>(next.number());
        EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
    }
    ~Shortage() { setrlimit(RLIMIT_NOFILE, &before_); }

private:
    rlimit before_{};
};

class SocketsWire : public ::testing::TestWithParam<Options> {
protected:
    sockets::Wire receiver{GetParam()}, sender{GetParam()};
    Taken received, sent;

    Sent inject(const std::string& text) {
        return sender.inject(sender.find(receiver.address()), bytes_of(text));
    }
    void deliver(const std::string& text) {
        until("a batch", sender, sent, receiver, received,
              [&] { return inject(text) == Sent::accepted; });
        const std::size_t before = received.batches.size();
        until("its arrival", sender, sent, receiver, received,
              [&] { return received.batches.size() > before; });
    }
    template <class Condition>
    void go_on_until(const char* what, Condition&& condition) {
        until(what, sender, sent, receiver, received, condition);
    }
};
INSTANTIATE_TEST_SUITE_P(Ways, SocketsWire, ::testing::Values(beside, with_rings, over_tcp),
                         [](const auto& way) {
                             return !way.param.same_machine ? "tcp"
                                 : way.param.rings          ? "with_rings"
                                                            : "beside";
                         });

TEST_P(SocketsWire, batches_of_every_length_arrive_as_they_were) {
    std::size_t number = 0;
    for (const std::size_t bytes : {1, 7, 8, 9, 100, 4096, 8191, 8192}) {
        deliver(contents(number, bytes));
        EXPECT_EQ(received.batches.back(), contents(number++, bytes));
    }
}

TEST_P(SocketsWire, a_stream_beyond_what_sockets_hold_goes_on_where_it_stopped) {
    Watchdog watchdog("a stream");
    Outgoing* const to = sender.find(receiver.address());
    deliver("first");
    received.batches.clear();
    constexpr std::size_t most = 4000;
    std::vector<SendBuffer> buffers;
    buffers.reserve(most);
    // Until the socket is full: the last one has left in part, or not at all.
    std::size_t accepted = 0;
    for (; accepted < most; ++accepted) {
        buffers.push_back(buffer_with(contents(accepted, most_batch - accepted % 9)));
        if (sender.send(to, buffers.back(), most_batch - accepted % 9) != Sent::accepted) break;
        sent.take(sender);
    }
    ASSERT_LT(accepted, most) << "there is no end to what it takes";
    ASSERT_GT(accepted * most_batch, std::size_t{1} << 16);
    go_on_until("what was accepted", [&] { return received.batches.size() == accepted; });
    go_on_until("the ends of sends", [&] { return sent.sends.size() == accepted; });
    for (std::size_t i = 0; i < accepted; ++i)
        ASSERT_EQ(received.batches[i], contents(i, most_batch - i % 9)) << i;
    EXPECT_EQ(std::count(sent.sends.begin(), sent.sends.end(), 0),
              static_cast<std::ptrdiff_t>(accepted));
    deliver("and more");
    EXPECT_EQ(received.batches.back(), "and more");
}

TEST_P(SocketsWire, small_batches_fill_a_socket_and_none_is_cut) {
    deliver("first");
    received.batches.clear();
    std::size_t accepted = 0;
    const auto length = [](std::size_t number) { return 1 + number * 37 % 8000; };
    while (inject(contents(accepted, length(accepted))) == Sent::accepted) ++accepted;
    ASSERT_GT(accepted, 10U);
    go_on_until("what was accepted", [&] { return received.batches.size() == accepted; });
    for (std::size_t i = 0; i < accepted; ++i)
        ASSERT_EQ(received.batches[i], contents(i, length(i))) << i;
}

TEST_P(SocketsWire, a_receiver_that_releases_nothing_stops_its_sender_and_nobody_else) {
    received.keep = true;
    deliver("first");
    std::size_t accepted = 1;
    for (int refused = 0; refused < 1000; ++refused) {
        const bool taken = inject(contents(0, 8000)) == Sent::accepted;
        if (taken) {
            ++accepted;
            refused = 0;
        }
        received.take(receiver);
        sent.take(sender);
        ASSERT_LT(accepted, 100'000U) << "there is no end to what it takes";
    }
    sockets::Wire other{GetParam()};
    Taken others;
    Outgoing* const to = other.find(receiver.address());
    until("another one", other, others, receiver, received,
          [&] { return other.inject(to, bytes_of("hello")) == Sent::accepted; });
    until("its arrival", other, others, receiver, received,
          [&] { return received.batches.back() == "hello"; });
    received.keep = false;
    received.release(receiver);
    go_on_until("the others", [&] { return received.batches.size() == accepted + 1; });
}

TEST_P(SocketsWire, so_many_batches_are_handed_out_and_no_more) {
    received.keep = true;
    deliver("first");
    std::size_t accepted = 1;
    for (int refused = 0; refused < 1000; ++refused) {
        if (inject("short") == Sent::accepted) {
            ++accepted;
            refused = 0;
        }
        received.take(receiver);
        sent.take(sender);
    }
    EXPECT_EQ(received.kept.size(), Chunks::most_unreleased);
    received.keep = false;
    received.release(receiver);
    go_on_until("the others", [&] { return received.batches.size() == accepted; });
}

TEST_P(SocketsWire, after_a_long_silence_sixteen_calls_find_what_has_come) {
    deliver("first");
    for (int i = 0; i < 1'000'000; ++i) received.take(receiver);
    while (inject("second") != Sent::accepted) sent.take(sender);
    pollfd there{receiver.descriptor(), POLLIN, 0};
    ASSERT_EQ(::poll(&there, 1, 60'000), 1);
    for (int i = 0; i < 16; ++i) received.take(receiver);
    EXPECT_EQ(received.batches.back(), "second");
}

TEST_P(SocketsWire, who_does_not_know_the_secret_is_hung_up_on) {
    Address wrong = Address::from_bytes(receiver.address());
    wrong.secret[1] ^= 1;
    Outgoing* const to = sender.find(wrong.to_bytes());
    Sent last = Sent::again;
    go_on_until("a refusal", [&] {
        last = sender.inject(to, bytes_of("I may not"));
        return last == Sent::failed;
    });
    EXPECT_EQ(sender.failure(), ECONNRESET);
    EXPECT_GE(receiver.strangers(), 1U);
    EXPECT_EQ(receiver.connections(), 0U);
    EXPECT_TRUE(received.batches.empty());
    deliver("I may");
}

TEST_P(SocketsWire, who_says_nothing_is_hung_up_on_after_a_while) {
    const Descriptor stranger = connect_to(receiver.address());
    go_on_until("the stranger", [&] { return receiver.connections() == 1; });
    // Asleep: the set wakes for it.
    Watchdog watchdog("a silent stranger");
    while (receiver.strangers() == 0) {
        pollfd there{receiver.descriptor(), POLLIN, 0};
        ASSERT_EQ(::poll(&there, 1, 60'000), 1);
        received.take(receiver);
    }
    EXPECT_EQ(receiver.connections(), 0U);
    char byte = 0;
    EXPECT_EQ(recv(stranger.number(), &byte, 1, 0), 0);
    // And then nothing wakes it.
    while (receiver.may_sleep()) {
        pollfd there{receiver.descriptor(), POLLIN, 0};
        if (::poll(&there, 1, 0) == 0) break;
        received.take(receiver);
    }
    pollfd there{receiver.descriptor(), POLLIN, 0};
    EXPECT_EQ(::poll(&there, 1, 600), 0);
}

TEST_P(SocketsWire, silent_strangers_are_let_in_in_small_numbers) {
    std::vector<Descriptor> strangers;
    for (int i = 0; i < 150; ++i) strangers.push_back(connect_to(receiver.address()));
    std::size_t most = 0;
    bool accepted = false;
    go_on_until("a member behind strangers", [&] {
        most = std::max(most, receiver.connections());
        accepted = accepted || inject("I may") == Sent::accepted;
        return !received.batches.empty();
    });
    EXPECT_LE(most, Acceptor::most_unknown);
    EXPECT_GE(receiver.strangers(), 150 - Acceptor::most_unknown);
}

TEST_P(SocketsWire, what_is_no_batch_ends_its_connection_alone) {
    deliver("first");
    const Descriptor raw = connect_to(receiver.address());
    Hello hello;
    hello.secret = Address::from_bytes(receiver.address()).secret;
    say(raw, hello);
    say(raw, Frame::of_batch(5));
    say(raw, std::array<char, 8>{'a', 'b', 'c', 'd', 'e'});
    go_on_until("a batch by hand", [&] { return received.batches.size() == 2; });
    EXPECT_EQ(received.batches.back(), "abcde");
    ASSERT_EQ(receiver.connections(), 2U);
    for (const Frame wrong :
         {Frame::of_batch(0), Frame::of_batch(most_batch + 1), Frame{8, Frame::Kind::go_on},
          Frame{0, Frame::Kind::go_on}, Frame{0, Frame::Kind::skip}}) {
        const Descriptor another = connect_to(receiver.address());
        say(another, hello);
        go_on_until("no batch", [&] { return receiver.connections() == 3; });
        say(another, wrong);
        go_on_until("its end", [&] { return receiver.connections() == 2; });
    }
    EXPECT_EQ(receiver.last_error(), std::strerror(EPROTO));
    EXPECT_EQ(received.batches.size(), 2U);
    // Behind one that is right.
    const std::array<std::uint64_t, 3> both{8, 42, std::uint64_t{1} << 40};
    say(raw, both);
    go_on_until("the right one", [&] { return received.batches.size() == 3; });
    go_on_until("the end", [&] { return receiver.connections() == 1; });
    deliver("second");
}

TEST_P(SocketsWire, a_receiver_that_goes_is_told_by_the_next_send) {
    auto other = std::make_unique<sockets::Wire>(GetParam());
    Taken others;
    Outgoing* const to = sender.find(other->address());
    until("a batch", sender, sent, *other, others,
          [&] { return sender.inject(to, bytes_of("first")) == Sent::accepted; });
    until("its arrival", sender, sent, *other, others, [&] { return !others.batches.empty(); });
    // One is under way, of which the rest does not leave any more.
    std::vector<SendBuffer> buffers;
    buffers.reserve(4000);
    std::size_t accepted = 0;
    do {
        buffers.push_back(buffer_with(contents(0, most_batch)));
        sent.take(sender);
    } while (sender.send(to, buffers.back(), most_batch) == Sent::accepted && ++accepted < 3999);
    other.reset();
    Watchdog watchdog("an end");
    while (sender.inject(to, bytes_of("more")) == Sent::again) sent.take(sender);
    EXPECT_EQ(sender.inject(to, bytes_of("more")), Sent::failed);
    EXPECT_EQ(sender.failure(), ECONNRESET);
    while (sent.sends.size() < accepted) sent.take(sender);
    EXPECT_TRUE(std::ranges::all_of(sent.sends, [](int e) { return e == 0 || e == ECONNRESET; }));
    std::string why;
    EXPECT_TRUE(sender.diagnose(receiver.address(), why) || why.empty());
    deliver("to somebody else");
}

TEST_P(SocketsWire, what_a_peer_has_said_before_it_went_is_told_before_its_end) {
    for (int round = 0; round < 20; ++round) {
        auto other = std::make_unique<sockets::Wire>(GetParam());
        Taken others;
        Outgoing* const there = sender.find(other->address());
        Outgoing* const back = other->find(sender.address());
        for (int i = 0; i < 50; ++i)
            until("batches both ways", sender, sent, *other, others, [&] {
                return sender.inject(there, bytes_of("hello")) == Sent::accepted &&
                    other->inject(back, bytes_of("hello")) == Sent::accepted;
            });
        until("their arrival", sender, sent, *other, others,
              [&] { return sent.batches.size() >= 50 && others.batches.size() >= 50; });
        for (int i = 0; i < 10; ++i)
            ASSERT_EQ(other->inject(back, bytes_of("last words")), Sent::accepted);
        other.reset();
        sent.batches.clear();
        Watchdog watchdog("an end");
        Sent last = Sent::accepted;
        while ((last = sender.inject(there, bytes_of("are you there"))) != Sent::failed)
            sent.take(sender);
        ASSERT_EQ(std::ranges::count(sent.batches, "last words"), 10);
    }
}

TEST_P(SocketsWire, a_receiver_without_descriptors_lets_in_later_and_is_not_kept_busy) {
    const std::string address = receiver.address();
    const Descriptor early = connect_to(address);  // waits in the kernel
    Hello hello;
    hello.secret = Address::from_bytes(address).secret;
    say(early, hello);
    say(early, Frame::of_batch(8));
    say(early, std::uint64_t{42});
    Watchdog watchdog("a shortage");
    {
        const Shortage shortage;
        for (int i = 0; i < 100; ++i) received.take(receiver);
        EXPECT_EQ(receiver.connections(), 0U);
        // Readable for ticks, and between them not: four looks in a row without one cannot be all ticks.
        int busy = 0;
        for (int i = 0; i < 4; ++i) {
            received.take(receiver);
            pollfd there{receiver.descriptor(), POLLIN, 0};
            busy += ::poll(&there, 1, 0);
        }
        EXPECT_LT(busy, 4);
        EXPECT_TRUE(received.batches.empty());
    }
    go_on_until("who waited", [&] { return !received.batches.empty(); });
}

TEST_P(SocketsWire, a_sender_without_descriptors_sends_later) {
    {
        const Shortage shortage;
        for (int i = 0; i < 100; ++i) {
            EXPECT_EQ(inject("first"), Sent::again);
            sent.take(sender);
        }
        std::string why;
        EXPECT_FALSE(sender.diagnose(receiver.address(), why)) << why;
    }
    deliver("first");
}

TEST_P(SocketsWire, a_host_acknowledges_for_a_process_that_does_nothing) {
    using namespace std::chrono_literals;
    deliver("first");
    Watchdog watchdog("signs of life");
    const auto begin = std::chrono::steady_clock::now();
    std::string why;
    // For longer than the time asked for: what was acknowledged before does not count.
    while (std::chrono::steady_clock::now() - begin < 2500ms ||
           !sender.is_acknowledged(receiver.address(), 2000ms)) {
        EXPECT_FALSE(sender.diagnose(receiver.address(), why)) << why;
        sent.take(sender);
    }
    sender.end_diagnosis(receiver.address());
    deliver("second");
    EXPECT_EQ(receiver.strangers(), 0U);
}

/// Runs `body` in a child process of another user. Answers whether that could be done.
bool as_another_user(const std::function<int()>& body, int& status) {
    if (geteuid() != 0) return false;
    const pid_t child = fork();
    if (child == 0) _exit(setresuid(65533, 65533, 65533) == 0 ? body() : 100);
    waitpid(child, &status, 0);
    return status != 100 << 8;
}

TEST(SocketsOfOtherUsers, are_refused_although_they_know_the_secret) {
    sockets::Wire receiver(beside);
    const std::string address = receiver.address();
    int status = 0;
    const bool tried = as_another_user(
        [&] {
            const Descriptor socket = connect_to(address);
            Hello hello;
            hello.secret = Address::from_bytes(address).secret;
            say(socket, hello);
            return 0;
        },
        status);
    if (!tried) GTEST_SKIP() << "only root can be another user";
    ASSERT_EQ(status, 0);
    Taken taken;
    Watchdog watchdog("another user");
    while (receiver.strangers() == 0) taken.take(receiver);
    EXPECT_EQ(receiver.connections(), 0U);
}

TEST(SocketsOfOtherUsers, are_not_told_the_secret) {
    int pipe_ends[2];
    ASSERT_EQ(pipe(pipe_ends), 0);
    const Descriptor out(pipe_ends[0]);
    Descriptor in(pipe_ends[1]);
    if (geteuid() != 0) GTEST_SKIP() << "only root can be another user";
    const pid_t child = fork();
    if (child == 0) {
        if (setresuid(65533, 65533, 65533) != 0) _exit(100);
        Address own = Address::of_this_process();
        own.name = 4711 + static_cast<std::uint64_t>(getpid());
        const Endpoint endpoint = abstract_endpoint(own.name);
        const Descriptor listener(socket(AF_UNIX, SOCK_STREAM, 0));
        if (bind(listener.number(), endpoint.get(), endpoint.length) != 0) _exit(101);
        if (listen(listener.number(), 1) != 0) _exit(102);
        const std::string address = own.to_bytes();
        if (::write(in.number(), address.data(), address.size()) < 0) _exit(103);
        const Descriptor caller(accept(listener.number(), nullptr, nullptr));
        char said = 0;
        _exit(recv(caller.number(), &said, 1, 0) == 0 ? 0 : 104);
    }
    char address[most_address];
    const ssize_t bytes = ::read(out.number(), address, sizeof address);
    ASSERT_GT(bytes, 0);
    sockets::Wire sender(beside);
    Outgoing* const to = sender.find({address, static_cast<std::size_t>(bytes)});
    EXPECT_EQ(sender.inject(to, bytes_of("secret")), Sent::failed);
    EXPECT_EQ(sender.failure(), EACCES);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
}

// --- rings ---

class SocketsRing : public ::testing::Test {
protected:
    sockets::Wire receiver{with_rings};
    std::unique_ptr<sockets::Wire> sender = std::make_unique<sockets::Wire>(with_rings);
    Taken received, sent;
    std::size_t accepted = 0;

    /// Batches whose contents are numbered, until so many were accepted. The receiver takes some meanwhile.
    void send(std::size_t count, sockets::Wire& to) {
        auto* const there = sender->find(to.address());
        until("batches", *sender, sent, to, received, [&] {
            const std::string text = contents(accepted, 1 + accepted * 37 % 8000);
            if (sender->inject(there, bytes_of(text)) == Sent::accepted) ++accepted;
            return accepted == count;
        });
    }
    void expect_all() const {
        ASSERT_EQ(received.batches.size(), accepted);
        for (std::size_t i = 0; i < accepted; ++i)
            ASSERT_EQ(received.batches[i], contents(i, 1 + i * 37 % 8000)) << i;
    }
    /// From now on they go through the ring.
    void meet() {
        send(100, receiver);
        until("what was sent", *sender, sent, receiver, received,
              [&] { return received.batches.size() == accepted; });
        ASSERT_EQ(receiver.rings(), 1U);
    }
};

TEST_F(SocketsRing, carries_what_follows_the_first_batches_in_order) {
    meet();
    send(5000, receiver);
    until("what was sent", *sender, sent, receiver, received,
          [&] { return received.batches.size() == accepted; });
    expect_all();
}

TEST_F(SocketsRing, is_read_to_its_end_when_its_sender_has_gone) {
    meet();
    auto* const there = sender->find(receiver.address());
    while (true) {
        const std::string text = contents(accepted, 1 + accepted * 37 % 8000);
        if (sender->inject(there, bytes_of(text)) != Sent::accepted) break;
        ++accepted;
    }
    EXPECT_GT(accepted, 110U);
    sender.reset();
    Watchdog watchdog("the rest of a ring");
    while (receiver.connections() != 0) received.take(receiver);
    expect_all();
    EXPECT_EQ(receiver.rings(), 0U);
}

TEST_F(SocketsRing, stays_readable_until_the_last_release_although_its_sender_has_gone) {
    meet();
    received.keep = true;
    const std::string text = contents(1, 5000);
    auto* const there = sender->find(receiver.address());
    ASSERT_EQ(sender->inject(there, bytes_of(text)), Sent::accepted);
    Watchdog watchdog("an end");
    WireEvent event;
    while (receiver.events(std::span(&event, 1)) == 0) sent.take(*sender);
    sender.reset();
    for (int i = 0; i < 1000; ++i) received.take(receiver);
    EXPECT_EQ(receiver.connections(), 1U);
    EXPECT_EQ(std::memcmp(event.received.data(), text.data(), text.size()), 0);
    receiver.release(*event.operation);
    EXPECT_EQ(receiver.connections(), 0U);
}

TEST_F(SocketsRing, has_room_again_when_batches_were_released_in_another_order) {
    meet();
    for (int round = 0; round < 50; ++round) {
        received.keep = true;
        const std::size_t before = received.batches.size();
        auto* const there = sender->find(receiver.address());
        while (sender->inject(there, bytes_of(contents(accepted, 1 + accepted * 37 % 8000))) ==
               Sent::accepted) {
            ++accepted;
            received.take(receiver);
        }
        Watchdog watchdog("a full ring");
        while (received.batches.size() < accepted) received.take(receiver);
        ASSERT_GT(received.batches.size(), before + 4);
        std::reverse(received.kept.begin(), received.kept.end());
        received.release(receiver);
    }
    expect_all();
}

TEST_F(SocketsRing, that_is_not_accepted_leaves_batches_to_the_socket) {
    sockets::Wire other(beside);
    send(500, other);
    until("what was sent", *sender, sent, other, received,
          [&] { return received.batches.size() == accepted; });
    expect_all();
    EXPECT_EQ(other.rings(), 0U);
}

TEST_F(SocketsRing, for_which_its_sender_has_no_descriptor_leaves_batches_to_the_socket) {
    send(10, receiver);
    {
        // The socket is there; the ring would be one more.
        const Shortage shortage;
        send(100, receiver);
        until("what was sent", *sender, sent, receiver, received,
              [&] { return received.batches.size() == accepted; });
    }
    EXPECT_EQ(receiver.rings(), 0U);
    send(200, receiver);
    until("what was sent", *sender, sent, receiver, received,
          [&] { return received.batches.size() == accepted; });
    expect_all();
}

/// Says Hello, offers the descriptor as that of a ring, and sends a batch by the socket.
Descriptor offer_by_hand(const sockets::Wire& receiver, int number) {
    Hello hello;
    hello.secret = Address::from_bytes(receiver.address()).secret;
    Descriptor raw = connect_to(receiver.address());
    say(raw, hello);
    Frame offer{0, Frame::Kind::offer};
    alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof(int))> control{};
    iovec bytes{&offer, sizeof offer};
    msghdr message{};
    message.msg_iov = &bytes;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &number, sizeof number);
    EXPECT_EQ(sendmsg(raw.number(), &message, 0), static_cast<ssize_t>(sizeof offer));
    say(raw, Frame::of_batch(8));
    say(raw, std::uint64_t{42});
    return raw;
}

TEST_F(SocketsRing, of_other_memory_than_it_must_be_is_not_mapped) {
    char name[] = "/tmp/no_ring_XXXXXX";
    const Descriptor plain(mkostemp(name, O_CLOEXEC));
    unlink(name);
    ASSERT_EQ(ftruncate(plain.number(), 4096 + RingMemory::bytes), 0);  // could be cut short later
    const Descriptor raw = offer_by_hand(receiver, plain.number());
    Watchdog watchdog("a batch behind an offer");
    while (received.batches.empty()) received.take(receiver);
    EXPECT_EQ(receiver.rings(), 0U);
    say(raw, Frame{0, Frame::Kind::go_on});
    while (receiver.connections() != 0) received.take(receiver);
    EXPECT_EQ(receiver.last_error(), std::strerror(EPROTO));
}

TEST_F(SocketsRing, is_not_accepted_by_a_receiver_without_descriptors) {
    Descriptor memory;
    const RingMemory mapped = RingMemory::create(memory);
    ASSERT_TRUE(mapped);
    const Descriptor raw = offer_by_hand(receiver, memory.number());
    Watchdog watchdog("a batch behind an offer");
    while (receiver.connections() == 0) received.take(receiver);
    {
        const Shortage shortage;
        while (received.batches.empty()) received.take(receiver);
    }
    EXPECT_EQ(receiver.rings(), 0U);
    const Descriptor another = offer_by_hand(receiver, memory.number());
    while (received.batches.size() < 2) received.take(receiver);
    EXPECT_EQ(receiver.rings(), 1U);
}

TEST_F(SocketsRing, is_had_by_so_many_senders_and_the_others_are_heard_as_well) {
    Watchdog watchdog("many senders");
    constexpr std::size_t count = Acceptor::most_rings + 6, each = 60;
    std::vector<std::unique_ptr<sockets::Wire>> senders;
    std::vector<std::size_t> said(count);
    for (std::size_t i = 0; i < count; ++i)
        senders.push_back(std::make_unique<sockets::Wire>(with_rings));
    while (received.batches.size() < count * each) {
        for (std::size_t i = 0; i < count; ++i) {
            auto* const there = senders[i]->find(receiver.address());
            const std::string text = std::to_string(i) + "." + std::to_string(said[i]);
            if (said[i] < each && senders[i]->inject(there, bytes_of(text)) == Sent::accepted)
                ++said[i];
            sent.take(*senders[i]);
            received.take(receiver);
        }
    }
    EXPECT_EQ(receiver.rings(), Acceptor::most_rings);
    std::vector<std::size_t> next(count);
    for (const std::string& batch : received.batches) {
        const std::size_t from = std::stoul(batch), dot = batch.find('.');
        EXPECT_EQ(std::stoul(batch.substr(dot + 1)), next[from]++);
    }
}

TEST_F(SocketsRing, wakes_a_receiver_that_sleeps) {
    meet();
    auto* const there = sender->find(receiver.address());
    for (int round = 0; round < 100; ++round) {
        while (!receiver.may_sleep()) received.take(receiver);
        pollfd set{receiver.descriptor(), POLLIN, 0};
        ASSERT_EQ(::poll(&set, 1, 0), 0);
        ASSERT_EQ(sender->inject(there, bytes_of("wake up")), Sent::accepted);
        ASSERT_EQ(::poll(&set, 1, 60'000), 1);
        const std::size_t before = received.batches.size();
        for (int i = 0; i < 16 && received.batches.size() == before; ++i) received.take(receiver);
        ASSERT_EQ(received.batches.size(), before + 1);
    }
}

TEST_F(SocketsRing, wakes_a_sender_that_waits_for_room) {
    meet();
    received.keep = true;
    auto* const there = sender->find(receiver.address());
    while (sender->inject(there, bytes_of(contents(0, 8000))) == Sent::accepted)
        received.take(receiver);
    sent.take(*sender);
    pollfd set{sender->descriptor(), POLLIN, 0};
    ASSERT_EQ(::poll(&set, 1, 0), 0);
    received.take(receiver);
    received.release(receiver);
    ASSERT_EQ(::poll(&set, 1, 60'000), 1);
    EXPECT_EQ(sender->inject(there, bytes_of("there is room")), Sent::accepted);
}

// --- several endpoints ---

Endpoint loopback(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    Endpoint endpoint;
    std::memcpy(&endpoint.bytes, &address, sizeof address);
    endpoint.length = sizeof address;
    return endpoint;
}

/// Listens over TCP without being a wire.
struct RawListener {
    Descriptor socket{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    Endpoint endpoint = loopback(0);

    RawListener() {
        EXPECT_EQ(bind(socket.number(), endpoint.get(), endpoint.length), 0);
        EXPECT_EQ(listen(socket.number(), 100), 0);
        EXPECT_EQ(getsockname(socket.number(), reinterpret_cast<sockaddr*>(&endpoint.bytes),
                              &endpoint.length),
                  0);
    }
};

TEST(OutgoingSocket, tries_the_next_endpoint_when_one_refuses_or_belongs_to_somebody_else) {
    Watchdog watchdog("endpoints");
    sockets::Wire receiver(over_tcp);
    const Address address = Address::from_bytes(receiver.address());
    RawListener gone;
    const Endpoint nobody = gone.endpoint;
    gone.socket.close();
    RawListener somebody_else;
    Loop loop;
    Completions completions;
    Outgoing outgoing(loop, completions, address.secret,
                      {nobody, somebody_else.endpoint, address.internet.front()});
    Taken taken;
    while (outgoing.inject(bytes_of("found")) == Sent::again) {
        loop.look();
        taken.take(receiver);
        const Descriptor visitor(accept4(somebody_else.socket.number(), nullptr, nullptr, 0));
    }
    while (taken.batches.empty()) taken.take(receiver);
    EXPECT_EQ(taken.batches.front(), "found");
    EXPECT_EQ(outgoing.error(), 0);
}

TEST(OutgoingSocket, gives_up_on_a_peer_that_hangs_up_three_times) {
    Watchdog watchdog("hanging up");
    RawListener listener;
    Loop loop;
    Completions completions;
    Outgoing outgoing(loop, completions, {}, {listener.endpoint});
    int visits = 0;
    while (outgoing.inject(bytes_of("hello")) == Sent::again) {
        loop.look();
        const Descriptor visitor(accept4(listener.socket.number(), nullptr, nullptr, 0));
        if (visitor) ++visits;
    }
    EXPECT_EQ(visits, 3);
    EXPECT_EQ(outgoing.error(), ECONNRESET);
    EXPECT_EQ(outgoing.finding(), std::strerror(ECONNRESET));
}

// --- addresses ---

TEST(SocketsAddress, is_short_and_read_as_it_was_written) {
    const sockets::Wire wire;
    const std::string bytes = wire.address();
    EXPECT_LE(bytes.size(), most_address);
    const Address read = Address::from_bytes(bytes);
    EXPECT_EQ(read.to_bytes(), bytes);
    EXPECT_NE(read.machine, 0U);
    EXPECT_NE(read.name, 0U);
    EXPECT_EQ(read.process, static_cast<std::uint32_t>(getpid()));
    EXPECT_FALSE(read.internet.empty());
    EXPECT_NE(wire.address(), sockets::Wire().address());
}

TEST(SocketsAddress, has_as_many_endpoints_as_fit) {
    Address address = Address::of_this_process();
    address.port = 80;
    address.internet.assign(40, loopback(80));
    const std::string bytes = address.to_bytes();
    EXPECT_LE(bytes.size(), most_address);
    EXPECT_GT(bytes.size(), most_address - 5);
    EXPECT_EQ(Address::from_bytes(bytes).internet.back().text(), "127.0.0.1 port 80");
}

TEST(SocketsAddress, that_is_none_is_refused) {
    sockets::Wire wire;
    const std::string bytes = wire.address();
    const Address whole = Address::from_bytes(bytes);
    std::set<std::size_t> fine;
    for (std::size_t length = 0; length < bytes.size(); ++length) try {
            (void)Address::from_bytes(bytes.substr(0, length));
            fine.insert(length);
        } catch (const std::runtime_error&) {}
    EXPECT_EQ(fine.size(), whole.internet.size());  // some with fewer endpoints are whole
    EXPECT_THROW(wire.find("nobody"), std::runtime_error);
    EXPECT_THROW(wire.find(std::string(100, 'x')), std::runtime_error);
}

TEST(SocketsAddress, of_another_host_that_listens_only_to_its_own_leads_nowhere) {
    sockets::Wire wire(beside);
    Address elsewhere = Address::from_bytes(wire.address());
    elsewhere.machine ^= 1;
    EXPECT_THROW(wire.find(elsewhere.to_bytes()), std::runtime_error);
    Address other_network = Address::from_bytes(wire.address());
    other_network.network ^= 1;
    EXPECT_THROW(wire.find(other_network.to_bytes()), std::runtime_error);
    EXPECT_NE(wire.find(wire.address()), nullptr);
}

TEST(SocketsAddress, of_a_wire_that_listens_both_ways_leads_over_tcp_from_elsewhere) {
    Watchdog watchdog("the same wire by both ways");
    sockets::Wire receiver(Options{.interface = "lo"}), sender;
    Address as_from_elsewhere = Address::from_bytes(receiver.address());
    as_from_elsewhere.machine ^= 1;
    Taken taken, sent;
    for (const std::string& way : {receiver.address(), as_from_elsewhere.to_bytes()}) {
        Outgoing* const to = sender.find(way);
        while (sender.inject(to, bytes_of("hello")) == Sent::again) {
            taken.take(receiver);
            sent.take(sender);
        }
    }
    while (taken.batches.size() < 2) taken.take(receiver);
    EXPECT_EQ(receiver.connections(), 2U);
    EXPECT_EQ(sender.place(as_from_elsewhere.to_bytes()).find("127.0.0.1 port "), 0U);
    EXPECT_EQ(sender.place(receiver.address()),
              "process " + std::to_string(getpid()) + " of this host");
}

}  // namespace
}  // namespace heddle::testing
