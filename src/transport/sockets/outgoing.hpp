// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The sending end of a connection, made with the first batch.
///
/// Beside         (same machine, same network namespace) connecting is over at once, and the first
///                batch follows the Hello. The listener must be a process of this user: others are
///                not told the secret.
/// Over TCP       the endpoints of the address are tried one after the other. The next one is tried
///                when one refuses, does not answer for `until_next`, or does not welcome for
///                `until_unwelcome`. Batches are sent after the welcome. A peer that has hung up
///                before it is tried again: it may have waited for the Hello in vain.
/// Failure        is for ever: of all endpoints, or of a connection that there was. Operations
///                under way are over with it.
/// Last words     of a peer may have come by another connection, such as its farewell. So
///                tell_failure() reports the failure of a connection that there was later. Until
///                then nothing is accepted.
/// Ring           beside, a connection that has carried `batches_before_ring` is worth one
///                (batch_ring.hpp). The sender offers it. The ring is used once the receiver has
///                accepted it and the socket has taken what went before.
/// Full socket    the rest of a batch stays in the lane's buffer. If that buffer is free again, the
///                rest is in a copy. It leaves when the socket has room. Nothing else is accepted
///                meanwhile.

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "transport/probe.hpp"
#include "transport/sockets/address.hpp"
#include "transport/sockets/completions.hpp"
#include "transport/sockets/descriptor.hpp"
#include "transport/sockets/hello.hpp"
#include "transport/sockets/loop.hpp"
#include "transport/sockets/peer_reader.hpp"
#include "transport/sockets/ring_memory.hpp"

namespace heddle::transport::sockets {

class Outgoing final : private Source {
public:
    static constexpr std::chrono::seconds until_next{2};
    static constexpr std::chrono::seconds until_unwelcome{10};
    static constexpr std::chrono::seconds until_unreachable{15};
    static constexpr std::chrono::seconds until_short{5};  ///< descriptors may be short for so long
    static constexpr std::size_t inject_limit = std::size_t{8} << 10;

    static constexpr unsigned batches_before_ring = 16;

    /// There is at least one endpoint. `rings`: a ring may be offered.
    Outgoing(Loop& loop, Completions& completions, const Secret& secret,
             std::vector<Endpoint> endpoints, bool rings = false) noexcept
        : loop_(loop),
          completions_(completions),
          secret_(secret),
          endpoints_(std::move(endpoints)),
          rings_(rings && is_beside()) {}
    ~Outgoing();
    Outgoing(const Outgoing&) = delete;
    Outgoing& operator=(const Outgoing&) = delete;

    Sent send(SendBuffer& buffer, std::size_t bytes) noexcept;
    Sent inject(Bytes batch) noexcept;
    /// Reads at once; the completion is only told later. Makes a connection if there is none.
    Sent read(RemoteMemory from, std::span<std::byte> to, Operation& operation) noexcept;
    bool is_beside() const noexcept { return !endpoints_.front().is_internet(); }
    void tick() noexcept;
    /// Returns errno; 0 if it has not failed, or that is not to be told yet.
    int error() const noexcept { return is_told() ? error_ : 0; }
    void tell_failure() noexcept;

    /// Returns why nothing goes there, or an empty string while that is not known.
    std::string finding();
    bool is_acknowledged(std::chrono::milliseconds within) noexcept;
    void end_diagnosis() noexcept { probe_.reset(); }

private:
    using Clock = std::chrono::steady_clock;
    enum class State : std::uint8_t {
        closed,      ///< the next batch opens it
        connecting,  ///< over TCP
        greeting,    ///< has said its Hello, and waits for the welcome
        ready,
        failed,
    };
    /// The rest of a batch of which only the beginning has left.
    struct Rest {
        SendBuffer* buffer = nullptr;  ///< nullptr: the batch is in copy_
        Bytes batch;                   ///< empty: there is none
        std::size_t sent = 0;          ///< bytes of the frame
    };

    void ready(std::uint32_t what) noexcept override;
    Sent begin(Bytes batch) noexcept;
    ssize_t write(Bytes batch, std::size_t from) noexcept;
    void write_rest() noexcept;
    void block(bool on) noexcept;

    void offer_ring() noexcept;
    bool go_on_in_ring() noexcept;
    Sent push(Bytes batch) noexcept;

    bool open() noexcept;
    bool open_beside() noexcept;
    void try_next() noexcept;
    bool try_endpoint(const Endpoint& endpoint) noexcept;
    Descriptor make_socket(int family) noexcept;
    const Endpoint& endpoint() const noexcept {
        return endpoints_[tries_ == 0 ? 0 : (tries_ - 1) % endpoints_.size()];
    }
    bool has_more_endpoints() const noexcept { return tries_ < most_tries_; }
    Hello hello(Hello::Kind kind) const noexcept { return {Hello::right_magic, kind, secret_}; }
    bool say_hello() noexcept;
    void hear_welcome() noexcept;
    void hear() noexcept;
    void enter(State state) noexcept;
    bool is_on_its_way() const noexcept {
        return state_ == State::connecting || state_ == State::greeting;
    }
    bool is_connected() const noexcept {
        return state_ == State::ready || state_ == State::greeting;
    }
    Probe& probe();
    bool is_told() const noexcept { return state_ == State::failed && told_; }
    void fail(int error) noexcept;
    void hang_up() noexcept;

    Loop& loop_;
    Completions& completions_;
    const Secret secret_;
    const std::vector<Endpoint> endpoints_;
    const bool rings_;
    Descriptor socket_;
    State state_ = State::closed;
    bool blocked_ = false;
    bool told_ = false;  ///< its failure was told
    int error_ = 0;      ///< the latest error
    std::size_t tries_ = 0;
    std::size_t most_tries_ = endpoints_.size();
    Clock::time_point opened_, tried_;
    Clock::time_point short_since_;
    bool is_short_ = false;  ///< descriptors are short
    Rest rest_;
    std::unique_ptr<std::byte[]> copy_;
    std::unique_ptr<Probe> probe_;
    unsigned batches_ = 0;  ///< sent by the socket, as far as they are counted
    std::unique_ptr<SendingRing> ring_;
    PeerReader reader_;
    enum class RingState : std::uint8_t {
        none,
        offered,
        accepted,
        used
    } ring_state_ = RingState::none;
};

}  // namespace heddle::transport::sockets
