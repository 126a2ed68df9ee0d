// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The receiving side of a wire: where it listens, whom it has let in, and what they have sent.
///
/// Strangers      processes of other users (on this machine), and whoever does not say the secret. They are hung up on,
///                and counted. Not more than `most_unknown` connections may be between connecting and the secret; further
///                ones wait in the kernel. One that takes longer than `until_stranger` is a stranger.
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

    explicit Acceptor(Loop& loop) noexcept : loop_(loop) {}
    ~Acceptor();
    Acceptor(const Acceptor&) = delete;
    Acceptor& operator=(const Acceptor&) = delete;

    /// Fills in the name. Throws std::runtime_error if the kernel refuses.
    void listen_here(Address& own);
    /// Fills in the port and the addresses of the interface, or of all if it is empty. Without any it does not
    /// listen. Throws std::runtime_error if the kernel refuses.
    void listen_to_others(Address& own, const std::string& interface);

    bool has_batches() const noexcept { return first_ != nullptr && chunks_.may_hand_out(); }
    /// False: there is none.
    bool take(WireEvent& event) noexcept;
    void release(Operation& operation) noexcept;
    void tick() noexcept;

    std::uint64_t strangers() const noexcept { return strangers_; }
    std::size_t connections() const noexcept { return incoming_.size(); }
    /// errno of the last connection that was interrupted; 0: none was.
    int last_error() const noexcept { return last_error_; }

    // --- for connections ---

    Chunks& chunks() noexcept { return chunks_; }
    bool is_secret(const Secret& said) const noexcept { return said == secret_; }
    void let_in(Incoming& connection) noexcept;
    void refuse(Incoming& connection) noexcept;          ///< destroys it
    void end(Incoming& connection, int error) noexcept;  ///< likewise
    void list(Incoming& connection) noexcept;            ///< it has a batch
    void pause(Incoming& connection) noexcept;

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
    void resume_paused() noexcept;

    Loop& loop_;
    Secret secret_{};
    Chunks chunks_;
    Listener here_{*this, false}, others_{*this, true};
    std::vector<std::unique_ptr<Incoming>> incoming_;
    Incoming* first_ = nullptr;  ///< of those with batches
    Incoming* last_ = nullptr;
    Incoming* paused_ = nullptr;
    unsigned unknown_ = 0;
    bool deaf_ = false;  ///< it does not look at those who want to connect
    std::uint64_t strangers_ = 0;
    int last_error_ = 0;
};

}  // namespace heddle::transport::sockets
