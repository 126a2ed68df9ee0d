// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Receiving: posts receives, and gives each message to the receive that it matches, or keeps it.
///
/// Short ones     start() is the data path of a receive, deliver() that of a message.
/// Large ones     are noted with the instance locked, and copied once it is unlocked
///                (ProgressCall::pulls, p2p/payload/large_copy.hpp).
/// Kept ones      p2p/unexpected.hpp
/// MPI_ANY_TAG    p2p/any_tag.hpp
/// To itself      a message of this process is matched as it is sent: receiver_self.cpp.
/// Watched        matching that is recorded, timed, or done in critical sections:
///                receiver_watched.cpp.
///
/// Thread safety  functions that take the key to an instance need it. The others are called without
///                locks, from any thread.

#include <algorithm>

#include "p2p/base.hpp"
#include "p2p/outbound.hpp"
#include "p2p/progress_call.hpp"
#include "p2p/protocol.hpp"
#include "p2p/unexpected.hpp"
#include "platform/sanitizers.hpp"

namespace heddle::p2p {

class AnyTag;
class Far;
class LargeCopy;
class ProgramThreads;
struct Arrival;
struct Parts;
struct Protocol;
class Sender;

/// A receive to be posted.
struct Inbound {
    match::Pattern pattern;
    bool allow_overtaking;
    std::byte* data;
    std::uint64_t bytes;
    objects::Communicator* communicator;
    objects::Datatype* layout = nullptr;  ///< of the data; nullptr: dense
    /// Hears of the completion (p2p/requests/listener.hpp); no thread waits for it.
    sync::Slot* waiter = nullptr;
};

class Receiver {
public:
    struct Others {
        Messages& messages;
        Unexpected& unexpected;
        const MessageOffers& offers;
        LargeCopy& copies;
        AnyTag& any_tag;
        Sender& sender;
        Far& far;
        ProgramThreads& threads;
        const Parts& parts;
    };
    Receiver(Base& base, const Others& others) noexcept : base_(base), others_(others) {}

    /// Posts a receive. Returns a request to wait for and free, or nullptr if memory has run out.
    /// `base` is as in Sender::start().
    [[gnu::always_inline]] core::Request* start(Base& base, core::Thread& thread,
                                                const Inbound& inbound) {
        core::Request* receive = make(base, thread, inbound);
        if (receive == nullptr) [[unlikely]]
            return nullptr;
        if (receive->any_tag) [[unlikely]]
            return post_slowly(thread, *receive, inbound.allow_overtaking);
        instance::Instance& at = base.pool.of(inbound.pattern.context, inbound.pattern.tag);
        receive->instance = at.number();
        const instance::LockedInstance locked =
            base.pool.lock(at, inbound.pattern.context, inbound.pattern.tag);
        match::Message* message = locked->matcher.standard.post(*receive, inbound.pattern);
        if (message != nullptr) [[unlikely]]
            return consume_taken(thread, locked, *receive, *message);
        locked.unlock();
        return receive;
    }
    /// Receives a message that has been taken out of its queue.
    core::Request* receive_matched(core::Thread& thread, match::Message& message,
                                   const Inbound& inbound);
    /// Takes a posted receive back. Returns false if it was matched before.
    bool cancel(core::Thread& thread, core::Request& receive);
    /// Returns the pattern of a posted receive. For a matched one it is the envelope of its
    /// message.
    match::Pattern pattern_of(const core::Request& receive);

    // --- messages that come ---

    /// Delivers a message out of a ring, or from the network. Its cells, or its batch, stay.
    /// Control messages of the network do not come here.
    void deliver(ProgressCall& call, instance::LockedInstance instance, std::int32_t process,
                 const transport::Header& header);
    /// Returns the receive that gets a message with this envelope. Takes it out of its list.
    [[gnu::always_inline]] core::Request* match(instance::LockedInstance instance,
                                                match::Envelope envelope) noexcept {
        if (instance->watched) [[unlikely]]
            return match_watched(instance, envelope);
        core::Request* receive = instance->matcher.standard.arrive(envelope);
        if (receive != nullptr) [[likely]]
            receive->source = envelope.source;
        return receive;
    }
    /// Matches a message that was taken out of its ring in turn.
    void match_taken_out(ProgressCall& call, instance::LockedInstance instance,
                         match::Message& message);
    /// Returns a message entry with the parts to be kept. Throws std::bad_alloc.
    match::Message& copy_of(const Arrival& arrival);

    // --- messages that a receive has got ---

    /// Gives the receive a message that is in no queue (any more), and frees the message.
    void consume_now(core::Thread& thread, core::Request& receive, match::Message& message);
    /// Gets the payload of a matched message that did not come with its header.
    void pull(ProgressCall& call, const Pull& pull);
    /// Notes the order of threads. The receive has got the message, which is still there.
    void note_causality(core::Request& receive, const match::Message& message) noexcept;

    // --- messages of this process to itself ---

    void send_to_self(core::Thread& thread, core::Request& send, const Outbound& message);
    /// Takes such a message out of the unexpected queue. Returns false if it is not there.
    bool take_from_self(const core::Request& send);

    // --- messages whose matching is watched ---

    /// Posts a receive at the instance of its tag, off the fast path.
    core::Request* post_exactly(core::Thread& thread, core::Request& receive);

private:
    [[gnu::always_inline]] static core::Request* make(Base& base, core::Thread& thread,
                                                      const Inbound& inbound) noexcept {
        core::Request* receive = base.requests.take(thread, inbound.waiter);
        if (receive == nullptr) [[unlikely]]
            return nullptr;
        receive->operation = core::Operation::receive;
        receive->context = inbound.pattern.context;
        receive->source = inbound.pattern.source;
        receive->tag = inbound.pattern.tag;
        receive->buffer = inbound.data;
        receive->capacity = inbound.bytes;
        receive->communicator = inbound.communicator;
        receive->clear_outcome();
        receive->any_tag = inbound.pattern.tag < thread.exact_tags_from;
        keep_layout(*receive, inbound.layout);
        return receive;
    }
    core::Request* post_slowly(core::Thread& thread, core::Request& receive, bool allow_overtaking);
    core::Request* consume_taken(core::Thread& thread, instance::LockedInstance instance,
                                 core::Request& receive, match::Message& message);
    void deliver_eager(ProgressCall& call, instance::LockedInstance instance, std::int32_t process,
                       const transport::Header& header);
    void deliver_by(const Protocol& protocol, const Arrival& arrival);
    bool is_next(std::int32_t process, const transport::Header& header) const;
    void deliver_to_self(ProgressCall& call, instance::LockedInstance instance, core::Request& send,
                         const Outbound& message);
    void consume(ProgressCall& call, core::Request& receive, match::Message& message);
    Pull take_announced(core::Thread& thread, core::Request& receive,
                        match::Message& message) noexcept;
    match::Message* post_watched(instance::LockedInstance instance, core::Request& receive);
    core::Request* match_watched(instance::LockedInstance instance,
                                 match::Envelope envelope) noexcept;
    static void count_received(instance::LockedInstance instance, std::uint64_t bytes) noexcept {
        instance->receiving.received_messages.add();
        instance->receiving.received_bytes.add(bytes);
    }

    Base& base_;
    const Others others_;
};

}  // namespace heddle::p2p
