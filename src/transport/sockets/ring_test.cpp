// SPDX-License-Identifier: BSD-3-Clause
/// Rings between two wires of sockets.

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include "testing/sockets.hpp"

namespace heddle::testing {
namespace {

using namespace transport::sockets;

class SocketsRing : public ::testing::Test {
protected:
    sockets::Wire receiver{with_rings};
    std::unique_ptr<sockets::Wire> sender = std::make_unique<sockets::Wire>(with_rings);
    Taken received, sent;
    std::size_t accepted = 0;

    /// Sends numbered batches until so many were accepted. The receiver takes some meanwhile.
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
    /// Sends until all go through the ring.
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

}  // namespace
}  // namespace heddle::testing
