// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Writes messages into their cells, and keeps those that wait for room. They wait in the order of
/// their channel; later messages of the channel queue behind them.
///
/// Making progress  the thread that makes progress flushes messages that have room. A thread that
///                  goes to sleep announces the backlog. The receiver notifies it when there is
///                  room.
/// Receivers        are told which messages are blocked (p2p/blocked_messages.hpp), since later
///                  ones may overtake them in rings of other instances.
/// Streams          messages whose payload waits for room in a ring of payload count as backlog of
///                  their instance.
/// Thread safety    any thread. Functions that take the key to an outbox need it, the others lock
///                  it.
/// Errors           queue() throws std::bad_alloc, and has changed nothing then.

#include <atomic>
#include <cstdint>
#include <vector>

#include "instance/pool.hpp"
#include "p2p/announced_sends.hpp"
#include "p2p/blocked_messages.hpp"
#include "p2p/outbound.hpp"
#include "p2p/payload/outgoing_streams.hpp"
#include "p2p/progress_call.hpp"
#include "sync/covered_fence.hpp"

namespace heddle::p2p {

class Endings;
class MessageOffers;

class Backlog {
public:
    using Instances = instance::Instances;

    /// `keeps_numbers`: a message that is taken back leaves its number to an empty one.
    Backlog(const node::Rings& rings, const node::Mailboxes& mailboxes, std::int32_t rank,
            instance::Pool& pool, const MessageOffers& offers, AnnouncedSends& announced,
            Endings& endings, bool keeps_numbers);

    /// Writes the message into its cells, and hands them over.
    void hand_over(instance::HeldOutbox outbox, instance::Channel& channel, node::Cell& cell,
                   std::size_t cells, const Outbound& message, const Prefix& prefix,
                   std::uint64_t stamp) noexcept;
    void queue(instance::HeldOutbox outbox, instance::Channel& channel,
               const instance::Pending& what);
    /// Has threads that make progress look at messages that wait for room.
    void note(instance::HeldOutbox outbox) noexcept;
    /// Takes the message of this send, which is not matched yet, out of the backlog. Returns false
    /// if it is not there.
    bool take_out(instance::HeldOutbox outbox, instance::Channel& channel,
                  const core::Request& send) noexcept;
    OutgoingStreams& streams() noexcept { return streams_; }

    /// Hands over messages that have room. Returns true if there were any.
    bool flush(ProgressCall& call, instance::Instance& instance);
    bool flush_held(ProgressCall& call, instance::HeldOutbox outbox);
    bool flush_all(ProgressCall& call);
    /// Forgets messages of this context that wait for room, as if they were handed over. No process
    /// needs them any more.
    void drop(ProgressCall& call, std::uint32_t context);
    /// Leaves a payload that would hold memory of the receiver with its send until it is matched.
    /// `readable`: by the receiver. Returns false if the payload holds none.
    bool withhold(instance::Pending& pending, bool readable) noexcept;

    /// Returns the instances with messages that wait for room.
    Instances instances() const noexcept { return instances_.load(acquire); }
    /// Asks for a ring of the bell when full rings have room again. That takes effect with the
    /// fence. Returns for which instances.
    Instances announce(core::Thread& thread, sync::CoveredFence& fence);
    /// Gives memory back once no message waits.
    void trim() noexcept { pending_.trim(); }

private:
    void announce_context(instance::Channel& channel, std::uint32_t context) noexcept;
    bool flush_channel(ProgressCall& call, instance::HeldOutbox outbox, instance::Channel& channel);
    bool flush_one(ProgressCall& call, instance::HeldOutbox outbox, instance::Channel& channel);
    void end(instance::HeldOutbox outbox, const instance::Channel& channel,
             instance::Pending& pending) noexcept;
    node::BlockedNotice& notice_for(std::int32_t process) const noexcept {
        return rings_.blocked_notice(static_cast<std::size_t>(rank_),
                                     static_cast<std::size_t>(process));
    }

    const node::Rings& rings_;
    const node::Mailboxes& mailboxes_;
    const std::int32_t rank_;
    const bool keeps_numbers_;
    instance::Pool& pool_;
    const MessageOffers& offers_;
    AnnouncedSends& announced_;
    Endings& endings_;
    std::atomic<Instances> instances_{0};
    std::vector<BlockedMessages> blocked_;  ///< by destination
    core::Arena<instance::Pending> pending_;
    OutgoingStreams streams_{pending_, announced_};
};

}  // namespace heddle::p2p
