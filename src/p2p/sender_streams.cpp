// SPDX-License-Identifier: BSD-3-Clause
/// Messages whose payload goes through a ring of payload: in one piece before the header, or
/// streamed behind it.

#include "core/causality.hpp"
#include "p2p/node_worker.hpp"
#include "p2p/sender.hpp"

namespace heddle::p2p {
/// Sends a message that is long enough for the ring. Returns nullptr if it must be sent by another
/// method.
core::Request* Sender::send_payload(core::Thread& thread, const Outbound& message,
                                    bool synchronous) {
    core::causality::before_other_processes();
    instance::Instance& instance = base_.pool.of(message.envelope.context, message.envelope.tag);
    const bool is_long = message.bytes > base_.settings.eager_limit;
    if (is_long && base_.settings.single_copy == tool::SingleCopy::always) return nullptr;
    const bool fits = message.bytes <= node::PayloadSizes::block;
    if (fits && !synchronous && place(thread, instance, message) == Post::done)
        return &base_.requests.completed_send();
    return is_long ? start_stream(thread, instance, message, synchronous) : nullptr;
}

/// Places a message of one piece, which is there before its header is.
Post Sender::place(core::Thread& thread, instance::Instance& instance, const Outbound& message) {
    const instance::OutboxHold held(instance, thread.token);
    instance::Channel& channel = base_.pool.channel(held, message.process);
    if (!has_payload_ring(held, channel, message.bytes)) return Post::retry;
    node::Cell* cell = channel.ring.reserve(1);
    if (cell == nullptr) return Post::retry;
    const auto place = channel.payload->reserve(message.bytes);
    if (!place) return Post::retry;
    if (message.layout == nullptr)
        channel.payload->store({*place, message.bytes}, message.data + message.offset);
    else
        gather(channel.payload->at(*place), message.data, message.layout, message.offset,
               message.bytes);
    const PlacedFields fields{*place, message.bytes};
    count_sent(channel, message.bytes);
    backlog_.hand_over(held, channel, *cell, 1, {message.envelope, message.process, nullptr, 0},
                       fields, base_.stamps.numbered()());
    thread.sent_last = {message.process, instance.number()};
    return Post::done;
}

void Sender::take_lines_ahead(core::Thread& thread) noexcept {
    instance::Instance& instance = base_.pool[thread.sent_last.instance];
    bool is_more = false;
    if (instance.is_biased_to(thread.token)) {  // otherwise it would hinder others
        const instance::OutboxHold held(instance, thread.token);
        is_more = held->channels[thread.sent_last.process].payload->take_lines_ahead();
    }
    if (!is_more) thread.sent_last.process = -1;
}

/// Returns nullptr if the message must be sent by another method.
core::Request* Sender::start_stream(core::Thread& thread, instance::Instance& instance,
                                    const Outbound& message, bool synchronous) {
    ProgressCall call(thread);
    core::Request* send = nullptr;
    bool waits = false;
    {
        const instance::OutboxHold held(instance, thread.token);
        instance::Channel& channel = base_.pool.channel(held, message.process);
        if (!has_payload_ring(held, channel, message.bytes)) return nullptr;
        node::Cell* cell = channel.ring.reserve(1);
        if (cell == nullptr) return nullptr;
        send = make(thread, instance, message, synchronous);
        if (send == nullptr) return nullptr;
        const instance::Pending* stream = backlog_.streams().add(held, channel, *send);
        if (stream == nullptr) {
            base_.requests.free(thread, *send);
            return nullptr;
        }
        send->streamed = true;
        announced_.begin(*send);
        const StreamedFields fields{
            {reinterpret_cast<std::uint64_t>(send), 0},
            send->laid_out ? unreadable : reinterpret_cast<std::uint64_t>(message.data),
            message.bytes,
            stream->manifest,
            synchronous};
        // A short one has come when its header is seen. The receiver reads a longer one while it
        // comes.
        if (message.bytes <= node::PayloadSizes::block) backlog_.streams().push(call, channel);
        count_sent(channel, message.bytes);
        backlog_.hand_over(held, channel, *cell, 1, {message.envelope, message.process, nullptr, 0},
                           fields, base_.stamps.numbered()());
        backlog_.streams().push(call, held);
        waits = held->streaming != nullptr;
        if (waits) backlog_.note(held);
    }
    thread.sent_last = {message.process, instance.number()};
    if (waits) after_queueing();
    wake_workers(base_.mailboxes, base_.rank, message.process);
    if (waits) others_.threads.note_large_message();
    finish(call);
    return send;
}

/// Returns whether the channel has a ring of payload. Names one to the receiver if that is worth
/// it.
bool Sender::has_payload_ring(instance::HeldOutbox outbox, instance::Channel& channel,
                              std::uint64_t bytes) {
    if (channel.state != instance::Channel::State::open) return false;
    if (PayloadRings::is_ready(channel)) [[likely]]
        return true;
    if (!PayloadRings::is_wanted(channel, bytes)) return false;
    node::Cell* cell = channel.ring.reserve(1);
    if (cell == nullptr) return false;
    const std::int32_t number = payload_rings_.give(channel);
    if (number < 0) return false;
    const PayloadRingFields fields{static_cast<std::uint64_t>(number)};
    backlog_.hand_over(outbox, channel, *cell, 1, {{0, 0, 0}, channel.process, nullptr, 0}, fields,
                       0);
    return false;
}

}  // namespace heddle::p2p
