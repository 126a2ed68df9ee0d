// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The receiving side of a wire: it listens, lets peers in, and keeps what they have sent.
///
/// Strangers      processes of other users (on this machine), and any process that does not say the
///                secret. The acceptor hangs up on them, and counts them. Not more than
///                `most_unknown` connections may be between connecting and the secret; further ones
///                wait in the kernel. One that takes longer than `until_stranger` is a stranger.
/// Rings          `most_rings` of them; other senders' batches come by their sockets. The acceptor
///                looks at hot rings with every call. A ring becomes cold if `most_idle` looks have
///                found nothing. All rings become cold before a sleep.
/// Shortage       of descriptors or memory: connections wait in the kernel until the next tick.

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "transport/sockets/address.hpp"
#include "transport/sockets/incoming.hpp"

namespace heddle::transport::sockets {

class Acceptor {
public:
    static constexpr unsigned most_unknown = 64;
    static constexpr std::chrono::seconds until_stranger{2};
    static constexpr unsigned most_rings = 64;
    static constexpr unsigned most_idle = 4096;

    Acceptor(Loop& loop, bool rings) noexcept : loop_(loop), accepts_rings_(rings) {}
    ~Acceptor();
    Acceptor(const Acceptor&) = delete;
    Acceptor& operator=(const Acceptor&) = delete;

    /// Fills in the name. Throws std::runtime_error if the kernel refuses.
    void listen_here(Address& own);
    /// Fills in the port and the addresses of the interface, or of all interfaces if it is empty.
    /// If there are none it does not listen. Throws std::runtime_error if the kernel refuses.
    void listen_to_others(Address& own, const std::string& interface);

    bool has_batches() const noexcept { return first_ != nullptr && chunks_.may_hand_out(); }
    void look_at_rings() noexcept;
    /// Makes all rings cold: from now on the set tells of all that comes. Returns false if
    /// something is there.
    bool make_cold() noexcept;
    /// Returns false if there is none.
    bool take(WireEvent& event) noexcept;
    void release(Operation& operation) noexcept;
    void tick() noexcept;

    std::uint64_t strangers() const noexcept { return strangers_; }
    unsigned rings() const noexcept { return rings_; }
    std::size_t connections() const noexcept { return incoming_.size(); }
    /// Returns the errno of the last connection that was interrupted; 0 if none was.
    int last_error() const noexcept { return last_error_; }

    // --- for connections ---

    Chunks& chunks() noexcept { return chunks_; }
    bool is_secret(const Secret& said) const noexcept { return said == secret_; }
    void let_in(Incoming& connection) noexcept;
    void refuse(Incoming& connection) noexcept;          ///< destroys it
    void end(Incoming& connection, int error) noexcept;  ///< likewise
    void list(Incoming& connection) noexcept;            ///< it has a batch
    void pause(Incoming& connection) noexcept;
    void heat(Incoming& connection) noexcept;  ///< its ring is to be looked at
    bool wants_ring() const noexcept { return accepts_rings_ && rings_ < most_rings; }
    void count_ring(bool one_more) noexcept { rings_ += one_more ? 1U : -1U; }

private:
    struct Listener final : Source {
        Listener(Acceptor& acceptor, bool internet) noexcept
            : acceptor(acceptor), internet(internet) {}
        void ready(std::uint32_t) noexcept override { acceptor.accept_all(*this); }

        Acceptor& acceptor;
        const bool internet;
        Descriptor socket;
    };

    void listen_at(Listener& listener, const Endpoint& endpoint);
    void accept_all(Listener& listener) noexcept;
    bool accept_one(Listener& listener) noexcept;
    bool admit(Descriptor socket, bool internet) noexcept;
    void stop_listening() noexcept;
    void listen_again() noexcept;
    void forget_unknown() noexcept;
    void destroy(Incoming& connection) noexcept;
    void cool(Incoming& connection) noexcept;
    void end_if_over(Incoming& connection) noexcept;
    void resume_paused() noexcept;

    Loop& loop_;
    Secret secret_{};
    Chunks chunks_;
    Listener here_{*this, false}, others_{*this, true};
    std::vector<std::unique_ptr<Incoming>> incoming_;
    Incoming* first_ = nullptr;  ///< of connections with batches
    Incoming* last_ = nullptr;
    Incoming* paused_ = nullptr;
    Incoming* hot_ = nullptr;  ///< of connections with hot rings
    const bool accepts_rings_;
    unsigned rings_ = 0;
    unsigned unknown_ = 0;
    bool deaf_ = false;  ///< it does not look at new connections
    std::uint64_t strangers_ = 0;
    int last_error_ = 0;
};

}  // namespace heddle::transport::sockets
