// SPDX-License-Identifier: BSD-3-Clause
/// Messages whose payload goes through a ring of payload: in one piece before the header, or streamed
/// behind it.

#include "core/causality.hpp"
#include "p2p/engine.hpp"
#include "p2p/node_worker.hpp"

namespace heddle::p2p {
/// A message that is long enough for it; nullptr if it is to be sent otherwise.
core::Request* Engine::send_payload(core::Thread& thread, const Outbound& message,
                                    bool synchronous) {
    core::causality::before_other_processes();
    instance::Instance& instance = pool_.of(message.envelope.context, message.envelope.tag);
    const bool is_long = message.bytes > settings_.eager_limit;
    if (is_long && settings_.single_copy == tool::SingleCopy::always) return nullptr;
    const bool fits = message.bytes <= transport::shm::PayloadSizes::block;
    if (fits && !synchronous && place(thread, instance, message) == Post::done)
        return &completed_send_;
    return is_long ? start_stream(thread, instance, message, synchronous) : nullptr;
}

/// A message of one piece, which is there before its header is.
Post Engine::place(core::Thread& thread, instance::Instance& instance, const Outbound& message) {
    const sync::BiasedHold held(instance.outbox, thread.token);
    instance::Channel& channel = pool_.channel(instance, message.process);
    if (!has_payload_ring(instance, channel, message.bytes)) return Post::retry;
    transport::shm::Cell* cell = channel.ring.reserve(1);
    if (cell == nullptr) return Post::retry;
    const auto place = channel.payload->reserve(message.bytes);
    if (!place) return Post::retry;
    if (message.layout == nullptr)
        channel.payload->store({*place, message.bytes}, message.data + message.offset);
    else
        gather(channel.payload->at(*place), message.data, message.layout, message.offset,
               message.bytes);
    const PlacedFields fields{*place, message.bytes};
    count_sent(channel, MessageKind::placed, message.bytes, nullptr);
    backlog_.hand_over(instance, channel, *cell, 1, {message.envelope, message.process, nullptr, 0},
                       MessageKind::placed, &fields, sizeof fields, numbered()());
    thread.sent_last = {message.process, instance.number};
    return Post::done;
}

/// For the thread's next message, while it has nothing better to do.
void Engine::take_lines_ahead(core::Thread& thread) noexcept {
    instance::Instance& instance = pool_[thread.sent_last.instance];
    bool is_more = false;
    if (instance.outbox.is_biased_to(thread.token)) {  // else it would be in the way of others
        const sync::BiasedHold held(instance.outbox, thread.token);
        is_more = instance.channels[thread.sent_last.process].payload->take_lines_ahead();
    }
    if (!is_more) thread.sent_last.process = -1;
}

/// nullptr: it is to be sent otherwise.
core::Request* Engine::start_stream(core::Thread& thread, instance::Instance& instance,
                                    const Outbound& message, bool synchronous) {
    ProgressCall call(thread);
    core::Request* send = nullptr;
    bool waits = false;
    {
        const sync::BiasedHold held(instance.outbox, thread.token);
        instance::Channel& channel = pool_.channel(instance, message.process);
        if (!has_payload_ring(instance, channel, message.bytes)) return nullptr;
        transport::shm::Cell* cell = channel.ring.reserve(1);
        if (cell == nullptr) return nullptr;
        send = new_send(thread, instance, message, synchronous);
        if (send == nullptr) return nullptr;
        const instance::Pending* stream = backlog_.streams().add(instance, channel, *send);
        if (stream == nullptr) {
            free_request(thread, *send);
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
        // A short one has come when its header is seen; of a longer one the receiver reads while it comes.
        if (message.bytes <= transport::shm::PayloadSizes::block)
            backlog_.streams().push(call, channel);
        count_sent(channel, MessageKind::streamed, message.bytes, nullptr);
        backlog_.hand_over(instance, channel, *cell, 1,
                           {message.envelope, message.process, nullptr, 0}, MessageKind::streamed,
                           &fields, sizeof fields, numbered()());
        backlog_.streams().push(call, instance);
        waits = instance.streaming != nullptr;
        if (waits) backlog_.note(instance);
    }
    thread.sent_last = {message.process, instance.number};
    if (waits) after_queueing();
    wake_workers(node_, rank_, message.process);
    if (waits) note_large_message();
    finish(call);
    return send;
}

/// Whether the channel has a ring of payload. Names one to the receiver where that is worth it. Outbox held.
bool Engine::has_payload_ring(instance::Instance& instance, instance::Channel& channel,
                              std::uint64_t bytes) {
    if (channel.state != instance::Channel::State::open) return false;
    if (PayloadRings::is_ready(channel)) [[likely]]
        return true;
    if (!PayloadRings::is_wanted(channel, bytes)) return false;
    transport::shm::Cell* cell = channel.ring.reserve(1);
    if (cell == nullptr) return false;
    const std::int32_t number = payload_rings_.give(channel);
    if (number < 0) return false;
    const PayloadRingFields fields{static_cast<std::uint64_t>(number)};
    backlog_.hand_over(instance, channel, *cell, 1, {{0, 0, 0}, channel.process, nullptr, 0},
                       MessageKind::payload_ring, &fields, sizeof fields, 0);
    return false;
}

bool Engine::bind_rings_again() {
    if (!pool_.bind_again() || !payload_rings_.bind_again()) return false;
    bool mapped = true;
    for_each(all, [&](instance::Instance& instance) {
        if (instance.inlets == nullptr) return;
        for (std::size_t from = 0; from < node_.processes() && mapped; ++from) {
            instance::Inlet& inlet = instance.inlets[from];
            if (!inlet.bound || !inlet.payload) continue;
            inlet.payload =
                payload_rings_.open(static_cast<std::int32_t>(from), inlet.payload_number);
            mapped = static_cast<bool>(inlet.payload);
        }
    });
    return mapped;
}

/// The receiver has the payload. Instance locked.
void Engine::end_send(ProgressCall& call, instance::Instance& instance, const SenderField& field) {
    auto& send = *reinterpret_cast<core::Request*>(field.sender);
    if (send.streamed) {
        const sync::BiasedHold held(instance.outbox, call.thread.token);
        backlog_.streams().drop(pool_.channel(instance, send.peer), send);
    }
    complete_announced(call, send);
}

}  // namespace heddle::p2p
