// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Messages whose payload this process streams through rings of payload (node/payload_ring.hpp).
///
/// Those of one channel are streamed one after the other, in the order of their headers. Payload
/// without room waits; the thread that makes progress stores more. A receiver that does not want to
/// wait closes a message, and gets the rest by another method. Then its answer ends the send, not
/// the last store here.
///
/// Thread safety  the key to the outbox says which thread may call. A channel belongs to a held
///                outbox.

#include <cstdint>

#include "core/arena.hpp"
#include "instance/instance.hpp"
#include "p2p/announced_sends.hpp"
#include "p2p/progress_call.hpp"

namespace heddle::p2p {

class OutgoingStreams {
public:
    OutgoingStreams(core::Arena<instance::Pending>& pending, AnnouncedSends& announced) noexcept
        : pending_(pending), announced_(announced) {}

    /// Adds the payload of this send as the next of its channel, which has a ring. Returns nullptr
    /// if there is no manifest or no memory for it. Nothing is stored yet.
    instance::Pending* add(instance::HeldOutbox outbox, instance::Channel& channel,
                           core::Request& send);
    /// Stores pieces that have room. Returns true if there were any.
    bool push(ProgressCall& call, instance::Channel& channel);
    bool push(ProgressCall& call, instance::HeldOutbox outbox);
    /// Drops a stream: the receiver has closed its message, or its sender has taken it back.
    void drop(instance::Channel& channel, const core::Request& send) noexcept;

private:
    bool push_pieces(ProgressCall& call, instance::Channel& channel, instance::Pending& stream);
    static void store(node::PayloadProducer& ring, const node::Room& room,
                      instance::Pending& stream) noexcept;
    void give(instance::Channel& channel, instance::Pending& stream) noexcept;

    core::Arena<instance::Pending>& pending_;
    AnnouncedSends& announced_;
};

}  // namespace heddle::p2p
