// SPDX-License-Identifier: BSD-3-Clause
/// A wire of sockets, beside what every wire does: strangers, shortages, sockets that are full.

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <functional>

#include "testing/sockets.hpp"

namespace heddle::testing {
namespace {

using namespace transport::sockets;
using transport::most_address;

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
        // Readable for ticks, and between them not. Four looks in a row without one cannot be all
        // ticks.
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
    // This lasts longer than the time asked for: what was acknowledged before does not count.
    while (std::chrono::steady_clock::now() - begin < 2500ms ||
           !sender.is_acknowledged(receiver.address(), 2000ms)) {
        EXPECT_FALSE(sender.diagnose(receiver.address(), why)) << why;
        sent.take(sender);
    }
    sender.end_diagnosis(receiver.address());
    deliver("second");
    EXPECT_EQ(receiver.strangers(), 0U);
}

/// Runs `body` in a child process of another user. Returns whether that could be done.
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

}  // namespace
}  // namespace heddle::testing
