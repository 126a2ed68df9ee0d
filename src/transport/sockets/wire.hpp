// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A wire (transport/wire.hpp) over sockets of its own: between processes of different jobs, on one
/// machine and between hosts, without libfabric.
///
/// Connections    simplex. A sender connects to the receiver's address with its first batch; a
///                receiver only reads. Two wires that talk to each other have two connections.
/// One machine    (and one network namespace) sockets in the abstract namespace of AF_UNIX: nothing
///                is left in the file system. Processes of other users are refused, by both sides.
/// Rings          in memory that two processes share carry what they send each other on one
///                machine. They begin once the processes have exchanged some batches. The sockets
///                stay for bells and for the end.
/// Reading        large messages are read out of the memory of processes on this machine
///                (peer_reader.hpp), if Options say so.
/// Elsewhere      TCP, over IPv4 and IPv6, to that of the receiver's addresses which leads there.
/// Secret         128 random bits in address(). A sender says them first; the wire hangs up on one
///                that does not. If an address is published, every process that can read it may
///                send.
/// Sleeping       descriptor() is readable when there is something for events() to do. While
///                connections are made, a thread that sleeps on it wakes a few times in a second.
///                Otherwise it never wakes without need.
/// Faults         a connection that breaks, and a receiver that is gone, make the next send() fail,
///                by errno. No signal is raised. Batches that a receiver has not taken are lost
///                with it. Its own earlier batches are told before, such as its farewell.
/// Forked child   it has copies of the descriptors. Peers notice the end of a process only when its
///                forked children have ended, too.
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
    /// Interface whose addresses others are told; empty: those of all, if possible without the
    /// loopback.
    std::string interface = std::string();
    bool rings = true;  ///< offers and accepts rings in shared memory.
    /// On one machine, long messages are read out of the memory of their senders.
    bool reads = false;
};

class Wire {
public:
    static constexpr std::string_view name = "sockets";
    using Destination = Outgoing*;

    /// Memory that peers on this machine read by themselves, as far as the kernel lets them.
    class Exposed {
    public:
        explicit Exposed(RemoteMemory remote) noexcept : remote_(remote) {}
        RemoteMemory remote() const noexcept { return remote_; }

    private:
        RemoteMemory remote_;
    };

    /// Throws std::runtime_error with what the kernel says.
    explicit Wire(const Options& options = {});
    Wire(const Wire&) = delete;
    Wire& operator=(const Wire&) = delete;

    /// Returns the address: complete from the start, the same for the life of the wire.
    std::string address() const { return own_.to_bytes(); }
    /// Finds the endpoints only; connecting is for send(). Throws std::runtime_error if no path
    /// leads there.
    Outgoing* find(const std::string& address);
    std::string place(const std::string& address) const;
    /// Forgets a destination: nothing is under way there, and nothing will be.
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
    bool may_sleep() noexcept {
        return completions_.empty() && completions_.failures == 0 && !acceptor_.has_batches() &&
            acceptor_.make_cold();
    }

    bool can_read() const noexcept { return reads_ && own_.name != 0; }
    bool can_read(const Outgoing* from) const noexcept { return can_read() && from->is_beside(); }
    Exposed expose(Bytes memory) {
        return Exposed({reinterpret_cast<std::uint64_t>(memory.data()), secret_page_.key()});
    }
    /// Reads once between two calls of events(), so that other things that have come are not
    /// delayed for long.
    Sent read(Outgoing* from, RemoteMemory remote, std::span<std::byte> to,
              Operation& operation) noexcept {
        if (std::exchange(has_read_, true)) return Sent::again;
        return judge(*from, from->read(remote, to, operation));
    }

    /// Returns true if a read is over, of which no descriptor tells.
    bool owes() const noexcept { return has_read_; }

    /// Returns how many were hung up on.
    std::uint64_t strangers() const noexcept { return acceptor_.strangers(); }
    /// Returns how many are connected to this wire, known or not.
    std::size_t connections() const noexcept { return acceptor_.connections(); }

    /// Returns how many of them send by a ring, or may do so.
    unsigned rings() const noexcept { return acceptor_.rings(); }

private:
    Sent judge(const Outgoing& to, Sent sent) noexcept {
        if (sent == Sent::failed) [[unlikely]]
            failure_ = to.error();
        return sent;
    }
    std::vector<Endpoint> endpoints_of(const Address& address) const;
    Outgoing* known(const std::string& address) const noexcept;
    bool look() noexcept;
    void tick() noexcept;
    void tell_failures() noexcept;

    static constexpr unsigned most_without_look = 16;
    static constexpr unsigned most_looks_before_failure = 64;

    Address own_ = Address::of_this_process();
    const SecretPage secret_page_{own_.secret};
    const bool reads_;
    bool has_read_ = false;  ///< since the last call of events()
    Loop loop_;
    Completions completions_;
    Acceptor acceptor_;
    const bool rings_;
    std::map<std::string, std::unique_ptr<Outgoing>> outgoing_;
    unsigned looks_since_failure_ = 0;
    unsigned without_look_ = 0;  ///< calls of events() since the set was looked at
    int failure_ = 0;
};
static_assert(transport::Wire<Wire>);

using Lane = transport::Lane<Wire>;
static_assert(Transport<Lane>);

}  // namespace heddle::transport::sockets
