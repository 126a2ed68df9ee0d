// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Sending: chooses the protocol of a message, and puts it into the ring to its process, or into
/// the backlog.
///
/// Short ones     start() is the data path: one cell, written with the outbox held.
/// Large ones     go through a ring of payload (sender_streams.cpp), or are announced and fetched
///                (p2p/payload/large_copy.hpp).
/// No room        p2p/backlog.hpp
/// Elsewhere      messages to processes of other nodes: p2p/far/far.hpp; to this process:
///                p2p/receiver.hpp; in other recipes: p2p/laboratory/recipes.hpp.
///
/// Thread safety  every function from any thread, with that thread's own Thread. Those that answer
///                a receiver may be called with an instance locked.

#include <memory>

#include "p2p/announced_sends.hpp"
#include "p2p/backlog.hpp"
#include "p2p/base.hpp"
#include "p2p/outbound.hpp"
#include "p2p/payload/payload_rings.hpp"
#include "p2p/program_threads.hpp"
#include "p2p/protocol.hpp"

namespace heddle::p2p {

class BsendBuffer;
class Far;
class Polling;
class Receiver;
class Recipes;

class Sender {
public:
    struct Others {
        Far& far;
        Receiver& receiver;
        Recipes& recipes;
        Polling& polling;
        const MessageOffers& offers;
        ProgramThreads& threads;
    };
    Sender(Base& base, Backlog& backlog, AnnouncedSends& announced, PayloadRings& payload_rings,
           const Others& others);
    ~Sender();
    Sender(const Sender&) = delete;
    Sender& operator=(const Sender&) = delete;

    /// Starts a send. Returns Requests::completed_send() if it is already over; otherwise a request
    /// to wait for and free. Returns nullptr if memory has run out. `base` is the sender's own,
    /// which its caller has at a fixed distance (Engine::start_send()).
    [[gnu::always_inline]] core::Request* start(Base& base, core::Thread& thread,
                                                const Outbound& message) {
        if (message.bytes < inline_below_ && message.process != base.rank &&
            message.layout == nullptr) [[likely]] {
            instance::Instance& instance =
                base.pool.of(message.envelope.context, message.envelope.tag);
            if (post<1>(thread, instance, message) == Post::done) [[likely]]
                return &base.requests.completed_send();
        }
        return start_slowly(thread, message.envelope.context, message.envelope.source,
                            message.envelope.tag, message.process, message.data,
                            {message.bytes, message.layout}, message.how, message.communicator);
    }
    /// Starts a send that is complete only when the message has been matched.
    core::Request* start_synchronous(core::Thread& thread, const Outbound& message) {
        return start_slowly(thread, message.envelope.context, message.envelope.source,
                            message.envelope.tag, message.process, message.data,
                            {message.bytes, message.layout}, Sending::synchronous,
                            message.communicator);
    }
    /// Returns whether everything has left the library's buffer for standard sends. Endings::tell()
    /// reports it.
    bool buffer_is_empty() const;
    /// Takes a send back, and completes it, unless it is complete or has been matched.
    void cancel(core::Thread& thread, core::Request& send);
    /// Prefetches lines for the thread's next message, while the thread has no other work.
    void take_lines_ahead(core::Thread& thread) noexcept;

    // --- between processes ---

    /// Sends a control message to the process at the other end of a message. Throws std::bad_alloc,
    /// and has sent nothing then.
    void control(ProgressCall& call, std::uint8_t instance, std::int32_t process,
                 const Prefix& says);
    /// Sends the payload that the receiver asks for.
    void stream(ProgressCall& call, instance::Instance& instance, const CtsFields& fields);
    /// Ends a send whose payload the receiver has got.
    void end(ProgressCall& call, instance::Instance& instance, core::Request& send);
    /// Completes a send whose payload was still to be taken. It was not wanted, or has come.
    void complete_announced(ProgressCall& call, core::Request& send) noexcept;
    void complete_cancelled(ProgressCall& call, core::Request& send) noexcept;

    // --- parts of a start, for other recipes ---

    /// Puts the message into the ring if there is room, and the channel is open. `known_cells` is
    /// how many cells it takes, if that is known beforehand. `stamp` is called once there is room.
    template <std::size_t known_cells = 0, class Stamp = Stamps::Clock>
    [[gnu::always_inline]] Post post(core::Thread& thread, instance::Instance& instance,
                                     const Outbound& message, const Prefix& prefix = {},
                                     Stamp stamp = {}) {
        const std::size_t cells =
            known_cells != 0 ? known_cells : node::cells_for(prefix.bytes + message.bytes);
        bool cold = false;
        {
            instance::OutboxHold held(instance, thread.token);
            instance::Channel& channel = held->channels[message.process];
            if (!platform::has_bit(channel.open_for, message.envelope.context)) [[unlikely]]
                return Post::retry;
            node::Cell* cell = nullptr;
            if constexpr (known_cells == 1) {
                if (!channel.ring.has_room_for_one()) [[unlikely]]
                    return Post::retry;
                cell = &channel.ring.at_tail();
            } else {
                cell = channel.ring.reserve(cells);
                if (cell == nullptr) [[unlikely]]
                    return Post::retry;
            }
            write_cells(*cell, message, prefix, stamp());
            count_sent(channel, message.bytes);
            channel.ring.publish(*cell, cells);
            cold = channel.ring.cold();
            held.note(message.envelope.context, message.envelope.tag);
        }
        if (cold) [[unlikely]]
            base_.notify(message.process, instance.number());
        return Post::done;
    }
    void open_channel(core::Thread& thread, instance::Instance& instance, std::int32_t process);
    /// Starts a send through this instance.
    core::Request* start_by(core::Thread& thread, instance::Instance& instance,
                            const Outbound& message, bool synchronous, std::uint64_t number);

private:
    /// Starts a send off the fast path. Takes the message in pieces: as a whole, it would have to
    /// lie in memory for the fast path, too.
    [[gnu::cold]] core::Request* start_slowly(core::Thread& thread, std::uint32_t context,
                                              std::int32_t source, std::int32_t tag,
                                              std::int32_t process, const std::byte* data,
                                              Shape shape, Sending how,
                                              objects::Communicator* communicator);
    core::Request* send_through_buffer(core::Thread& thread, const Outbound& message);
    core::Request* make(core::Thread& thread, const instance::Instance& instance,
                        const Outbound& message, bool synchronous) noexcept;
    void let_go(core::Thread& thread, core::Request& send) noexcept;
    void start_protocol(ProgressCall& call, instance::Instance& instance, core::Request& send,
                        const Outbound& message, std::uint64_t number);
    /// Sends or queues. `completes` is done once the message is in the ring. `number` is that in a
    /// sequence.
    void post_or_queue(instance::Instance& instance, const Outbound& message, const Prefix& prefix,
                       core::Request* completes, ProgressCall& call, std::uint64_t number = 0);
    void after_queueing();

    // sender_streams.cpp
    core::Request* send_payload(core::Thread& thread, const Outbound& message, bool synchronous);
    Post place(core::Thread& thread, instance::Instance& instance, const Outbound& message);
    core::Request* start_stream(core::Thread& thread, instance::Instance& instance,
                                const Outbound& message, bool synchronous);
    bool has_payload_ring(instance::HeldOutbox outbox, instance::Channel& channel,
                          std::uint64_t bytes);

    Base& base_;
    // The conditions of the fast paths. No message meets them without Features::fast_paths, or if
    // the processor's counter does not order threads.
    const std::uint64_t inline_below_;  ///< payloads that go into one cell are shorter
    /// Payloads sent without a request if there is room are shorter.
    const std::uint64_t at_once_below_;
    Backlog& backlog_;
    AnnouncedSends& announced_;
    PayloadRings& payload_rings_;
    const Others others_;
    const std::shared_ptr<BsendBuffer> send_buffer_;  ///< HEDDLE_SEND_BUFFER; nullptr: none
};

}  // namespace heddle::p2p
