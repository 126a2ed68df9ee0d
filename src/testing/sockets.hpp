// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The common part of tests of wires over sockets.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "testing/watchdog.hpp"
#include "transport/sockets/wire.hpp"

namespace heddle::testing {

namespace sockets = transport::sockets;
using transport::Bytes;
using transport::Operation;
using transport::SendBuffer;
using transport::Sent;
using transport::WireEvent;

inline const sockets::Options beside{
    .same_machine = true, .other_hosts = false, .interface = {}, .rings = false};
inline const sockets::Options with_rings{
    .same_machine = true, .other_hosts = false, .interface = {}};
inline const sockets::Options over_tcp{
    .same_machine = false, .other_hosts = true, .interface = "lo"};

/// The arrivals of a wire, and its completed operations.
struct Taken {
    std::vector<std::string> batches;
    std::vector<Operation*> kept;  ///< not released
    std::vector<int> sends;        ///< errors of completed sends
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

inline std::string contents(std::size_t number, std::size_t bytes) {
    std::string text(bytes, '\0');
    for (std::size_t i = 0; i < bytes; ++i)
        text[i] = static_cast<char>(number * 131 + i * 7 + (i >> 9));
    return text;
}

inline SendBuffer buffer_with(const std::string& text) {
    SendBuffer buffer;
    buffer.what = Operation::What::send;
    buffer.bytes = std::make_unique_for_overwrite<std::byte[]>(sockets::most_batch);
    std::memcpy(buffer.bytes.get(), text.data(), text.size());
    return buffer;
}

inline Bytes bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

/// Polls both wires in turn, until the condition holds.
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
inline sockets::Descriptor connect_to(const std::string& address) {
    const sockets::Address parsed = sockets::Address::from_bytes(address);
    const sockets::Endpoint endpoint =
        parsed.name != 0 ? sockets::abstract_endpoint(parsed.name) : parsed.internet.front();
    sockets::Descriptor made(socket(endpoint.family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(connect(made.number(), endpoint.get(), endpoint.length), 0) << std::strerror(errno);
    return made;
}

template <class Value>
void say(const sockets::Descriptor& socket, const Value& value) {
    EXPECT_EQ(::send(socket.number(), &value, sizeof value, MSG_NOSIGNAL),
              static_cast<ssize_t>(sizeof value));
}

/// A scope in which this process gets no further descriptors.
class Shortage {
public:
    Shortage() {
        getrlimit(RLIMIT_NOFILE, &before_);
        rlimit none = before_;
        const sockets::Descriptor next(fcntl(0, F_DUPFD_CLOEXEC, 0));
        none.rlim_cur = static_cast<rlim_t>(next.number());
        EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
    }
    ~Shortage() { setrlimit(RLIMIT_NOFILE, &before_); }

private:
    rlimit before_{};
};

}  // namespace heddle::testing
