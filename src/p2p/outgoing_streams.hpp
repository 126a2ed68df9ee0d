// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Messages whose payload this process streams through rings of payload (node/payload_ring.hpp).
///
/// Those of one channel are streamed one after the other, in the order of their headers. What there is no room
/// for waits; whoever makes progress stores more. A receiver that does not want to wait closes a message, and
/// gets the rest another way: then its answer ends the send, and not what is stored here.
///
/// Thread safety  the key to the outbox says who may call; a channel is one of an outbox that is held.

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

    /// The payload of this send, as the next of its channel, which has a ring; nullptr if there is no manifest
    /// or no memory for it. Nothing is stored yet.
    instance::Pending* add(instance::HeldOutbox outbox, instance::Channel& channel,
                           core::Request& send);
    /// Stores what there is room for; true if that was anything.
    bool push(ProgressCall& call, instance::Channel& channel);
    bool push(ProgressCall& call, instance::HeldOutbox outbox);
    /// The receiver has closed the message of this send, or its sender has taken it back.
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
