// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A wire (transport/wire.hpp) over sockets of its own: between processes of different jobs, on one machine and between
/// hosts, without libfabric.
///
/// Connections    simplex. A sender connects to the receiver's address with its first batch; a receiver only reads. Two
///                wires that talk to each other have two connections.
/// One machine    (and one network namespace) sockets in the abstract namespace of AF_UNIX: nothing is left in the file
///                system. Processes of other users are refused, by both sides.
/// Elsewhere      TCP, over IPv4 and IPv6, to whichever of the receiver's addresses leads there.
/// Secret         128 random bits in address(). A sender says them first; whoever does not is hung up on. Where an address is
///                published, who can read it may send.
/// Sleeping       descriptor() is readable when there is something for events() to do. Whoever sleeps on it
///                wakes a few times in a second while connections are made, else never without need.
/// Faults         a connection that breaks, and a receiver that is gone, make the next send() fail, by errno. No signal
///                is raised. What a receiver has not taken is lost with it.
/// Forked child   it has copies of the descriptors. Peers notice the end of a process only when such children have ended, too.
/// Cost           docs/adr/0057-wire-of-sockets.md

#include <map>
#include <memory>
#include <string>

#include "transport/lane.hpp"
#include "transport/sockets/acceptor.hpp"
#include "transport/sockets/address.hpp"
#include "transport/sockets/completions.hpp"
#include "transport/sockets/loop.hpp"
#include "transport/sockets/outgoing.hpp"

namespace heddle::transport::sockets {

struct Options {
    bool same_machine = true;  ///< listens in the abstract namespace; false: only over TCP
    bool other_hosts = true;   ///< listens over TCP, at all interfaces
    /// Whose addresses others are told; empty: those of all, if possible without the loopback.
    std::string interface = std::string();
};

class Wire {
public:
    static constexpr std::string_view name = "sockets";
    using Destination = Outgoing*;

    /// Of memory that others may read there is none.
    class Exposed {
    public:
        RemoteMemory remote() const noexcept { return {0, 0}; }
    };

    /// Throws std::runtime_error with what the kernel says.
    explicit Wire(const Options& options = {});
    Wire(const Wire&) = delete;
    Wire& operator=(const Wire&) = delete;

    /// Complete from the start; the same for the life of the wire.
    std::string address() const { return own_.to_bytes(); }
    /// Only decides how; connecting is for send(). Throws std::runtime_error if there is no way.
    Outgoing* find(const std::string& address);
    std::string place(const std::string& address) const;
    /// Nothing is under way there, and nothing will be.
    void forget(const Outgoing* to) noexcept {
        std::erase_if(outgoing_, [to](const auto& known) { return known.second.get() == to; });
    }

    std::size_t batch_bytes() const noexcept { return most_batch; }
    Sent send(Outgoing* to, SendBuffer& buffer, std::size_t bytes) noexcept {
        return judge(*to, to->send(buffer, bytes));
    }
    Sent inject(Outgoing* to, Bytes bytes) noexcept { return judge(*to, to->inject(bytes)); }
    std::size_t inject_limit() const noexcept { return Outgoing::inject_limit; }
    std::size_t events(std::span<WireEvent> events) noexcept;
    void release(Operation& operation) noexcept { acceptor_.release(operation); }
    int failure() const noexcept { return failure_; }
    std::string last_error() const noexcept;

    bool diagnose(const std::string& address, std::string& why);
    bool is_acknowledged(const std::string& address, std::chrono::milliseconds within) noexcept;
    void end_diagnosis(const std::string& address) noexcept;

    int descriptor() const noexcept { return loop_.descriptor(); }
    bool may_sleep() noexcept { return completions_.empty() && !acceptor_.has_batches(); }

    bool can_read() const noexcept { return false; }
    Exposed expose(Bytes) { return {}; }
    Sent read(Outgoing*, RemoteMemory, std::span<std::byte>, Operation&) noexcept {
        failure_ = ENOTSUP;
        return Sent::failed;
    }

    /// How many were hung up on.
    std::uint64_t strangers() const noexcept { return acceptor_.strangers(); }
    /// How many are connected to this wire, known or not.
    std::size_t connections() const noexcept { return acceptor_.connections(); }

private:
    Sent judge(const Outgoing& to, Sent sent) noexcept {
        if (sent == Sent::failed) [[unlikely]]
            failure_ = to.error();
        return sent;
    }
    std::vector<Endpoint> endpoints_of(const Address& address) const;
    Outgoing* known(const std::string& address) const noexcept;
    void tick() noexcept;

    Address own_ = Address::of_this_process();
    Loop loop_;
    Completions completions_;
    Acceptor acceptor_{loop_};
    std::map<std::string, std::unique_ptr<Outgoing>> outgoing_;
    int failure_ = 0;
};
static_assert(transport::Wire<Wire>);

using Lane = transport::Lane<Wire>;
static_assert(Transport<Lane>);

}  // namespace heddle::transport::sockets
