// SPDX-License-Identifier: BSD-3-Clause
/// Addresses of wires of sockets, and which of several endpoints a sender takes.

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <set>
#include <string>

#include "testing/sockets.hpp"

namespace heddle::testing {
namespace {

using namespace transport::sockets;
using transport::most_address;

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
