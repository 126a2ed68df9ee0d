// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Messages that their senders may take back until they are matched (MPI_Cancel of sends). These
/// are the offers that a process makes, and those that it gets. The protocol is that of
/// sync/offers.hpp; see docs/adr/0028.
///
/// Thread safety  the sender's functions with the outbox of the message's instance held, the
///                receiver's with the instance locked.

#include <cstdint>

#include "instance/instance.hpp"
#include "match/message.hpp"
#include "node/board.hpp"
#include "node/rings.hpp"
#include "p2p/protocol.hpp"

namespace heddle::p2p {

class MessageOffers {
public:
    /// `uses_again`: the slot of a message that is over may stand for another one.
    MessageOffers(const node::Rings& rings, node::Board board, std::int32_t rank,
                  bool uses_again) noexcept
        : rings_(rings), board_(board), rank_(rank), uses_again_(uses_again) {}

    // --- the sender ---

    /// Numbers a message that is about to be published.
    void offer(instance::HeldOutbox outbox, instance::Channel& channel,
               node::Cell& cell) const noexcept;
    /// Takes a message back. Returns false if a receive has it, or will have it.
    bool take_back(const core::Request& send) const noexcept;

    // --- the receiver ---

    /// Maps the slots of the message, unless they are mapped. Throws std::bad_alloc, before
    /// anything is changed.
    void reach(std::int32_t process, const transport::Header& header) const;
    /// Holds an offer of a process. Returns false if it has taken the message back; otherwise
    /// decide() comes next.
    bool hold(std::int32_t process, MessageOffer offer) const noexcept;
    void decide(std::int32_t process, MessageOffer offer, bool accepted) const noexcept;
    /// Do the same for a message that is here.
    bool hold(const match::Message& message) const noexcept;
    void decide(const match::Message& message, bool accepted) const noexcept;
    /// Accepts a message. Returns false if its sender has taken it back.
    bool accept(const match::Message& message) const noexcept;
    bool is_taken_back(const match::Message& message) const noexcept;
    /// Returns whether it has been taken back. If so, tells its sender; the message must then go.
    bool drops(const match::Message& message) const noexcept;
    /// Returns whether the sender of this message has taken any back, in its instance.
    bool any_taken_back(const match::Message& message) const noexcept;

private:
    /// Returns use(slots) for the slots of this offer, from `from` to `to`. They are mapped.
    template <class Use>
    auto with(std::int32_t from, std::int32_t to, MessageOffer offer, Use&& use) const {
        return rings_.with_offers(static_cast<std::size_t>(from), static_cast<std::size_t>(to),
                                  offer.instance, offer.block, use);
    }

    const node::Rings& rings_;
    const node::Board board_;
    const std::int32_t rank_;
    const bool uses_again_;
};

}  // namespace heddle::p2p
