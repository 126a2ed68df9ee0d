// SPDX-License-Identifier: BSD-3-Clause
/// Messages whose payload goes through a ring of payload: in one piece before the header, or streamed
/// behind it.

#include <chrono>
#include <mutex>

#include "core/causality.hpp"
#include "p2p/engine.hpp"
#include "p2p/incoming_stream.hpp"
#include "p2p/payload.hpp"
#include "platform/tick_rate.hpp"

namespace heddle::p2p {
namespace {

/// Longer than a sender at work takes for a piece, even if each line comes from another cache; shorter than
/// what a copy by the kernel costs.
constexpr std::chrono::microseconds patience{20};
/// Where cores are short, a sender that stops has probably lost its core.
constexpr std::chrono::microseconds little_patience{2};

/// How long no piece has come.
class Lull {
public:
    explicit Lull(std::chrono::nanoseconds limit) noexcept : limit_(limit) {}
    void end() noexcept { since_ = 0; }
    bool is_too_long() noexcept {
        const std::uint64_t now = platform::ticks();
        if (since_ == 0) since_ = now;
        return platform::duration_of(now - since_) > limit_;
    }

private:
    const std::chrono::nanoseconds limit_;
    std::uint64_t since_ = 0;
};

}  // namespace

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
    count_sent(channel, Kind::placed, message.bytes, nullptr);
    hand_over(instance, channel, *cell, 1, {message.envelope, message.process, nullptr, 0},
              Kind::placed, &fields, sizeof fields, numbered()());
    return Post::done;
}

/// nullptr: it is to be sent otherwise.
core::Request* Engine::start_stream(core::Thread& thread, instance::Instance& instance,
                                    const Outbound& message, bool synchronous) {
    Turn turn(thread);
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
        const instance::Pending* stream = streams_.add(instance, channel, *send);
        if (stream == nullptr) {
            free_request(thread, *send);
            return nullptr;
        }
        send->streamed = true;
        send->announced = true;
        announced_.fetch_add(1, relaxed);
        const StreamedFields fields{
            {reinterpret_cast<std::uint64_t>(send), 0},
            send->laid_out ? unreadable : reinterpret_cast<std::uint64_t>(message.data),
            message.bytes,
            stream->manifest,
            synchronous};
        // A short one has come when its header is seen; of a longer one the receiver reads while it comes.
        if (message.bytes <= transport::shm::PayloadSizes::block) streams_.push(turn, channel);
        count_sent(channel, Kind::streamed, message.bytes, nullptr);
        hand_over(instance, channel, *cell, 1, {message.envelope, message.process, nullptr, 0},
                  Kind::streamed, &fields, sizeof fields, numbered()());
        streams_.push(turn, instance);
        waits = instance.streaming != nullptr;
        if (waits) note_backlog(instance);
    }
    if (waits) after_queueing();
    wake_workers(message.process);
    if (waits) note_large_message();
    finish(turn);
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
    hand_over(instance, channel, *cell, 1, {{0, 0, 0}, channel.process, nullptr, 0},
              Kind::payload_ring, &fields, sizeof fields, 0);
    return false;
}

/// Instance locked.
void Engine::open_payload_ring(instance::Instance& instance, std::int32_t process,
                               const PayloadRingFields& fields) {
    instance::Inlet& inlet = pool_.inlet(instance, process);
    inlet.payload_number = static_cast<std::uint32_t>(fields.number);
    inlet.payload = payload_rings_.open(process, inlet.payload_number);
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
void Engine::end_send(Turn& turn, instance::Instance& instance, const SenderField& field) {
    auto& send = *reinterpret_cast<core::Request*>(field.sender);
    if (send.streamed) {
        const sync::BiasedHold held(instance.outbox, turn.thread.token);
        streams_.drop(pool_.channel(instance, send.peer), send);
    }
    complete_announced(turn, send);
}

/// The payload of a matched message, of which the first `bytes` are wanted. No lock is held.
void Engine::take_stream(Turn& turn, Pull pull, std::uint64_t bytes) {
    const auto& ring = pool_.inlet(pool_[pull.instance], pull.process).payload;
    IncomingStream stream(ring, pull.manifest, pull.receive, pull.length, bytes);
    Lull lull(short_of_cores() ? little_patience : patience);
    while (!stream.has_all()) {
        if (stream.take()) {
            lull.end();
            continue;
        }
        if (stream.has_enough() || lull.is_too_long()) break;
        push_streams(turn);  // else two that send to each other would both wait
        platform::pause();
    }
    const bool closed = !stream.has_all() && take_claimed(pull, stream) != pull.length;
    pull.from = stream.taken();
    turn.thread.copying.pipelined_bytes.add(std::min(bytes, pull.from));
    stream.leave();
    if (closed) return fetch(turn, pull, bytes);
    if (pull.synchronous) return settle(turn, pull);
    turn.complete(*pull.receive);
}

/// A message that nobody is going to receive gives up its place in the ring.
void Engine::leave_payload(const match::Message& message) noexcept {
    const auto kind = static_cast<Kind>(message.protocol);
    if (kind != Kind::placed && kind != Kind::streamed) return;
    const auto& ring = pool_.inlet(pool_[message.instance], message.peer).payload;
    if (kind == Kind::placed) return ring.free({message.far.address, message.length});
    IncomingStream stream(ring, message.far.manifest, nullptr, message.length, 0);
    for (const std::uint64_t claimed = stream.close(); stream.taken() < claimed; stream.skip())
        (void)stream.unstored();
    stream.leave();
}

/// Closes the message, and takes what the sender has claimed before; the answer is how much that was.
std::uint64_t Engine::take_claimed(const Pull& pull, IncomingStream& stream) {
    const std::uint64_t claimed = stream.close();
    while (stream.taken() < claimed) {
        if (stream.take()) continue;
        // The sender is just storing it, and may have lost its core. Its buffer is good until it has stored.
        const transport::shm::Piece piece = stream.unstored();
        if (piece.bytes == 0 ||
            (may_read(pull) && read(pull, piece.at, piece.bytes) && stream.stored_nothing_more()))
            stream.skip();
        else
            sync::Native::yield();
    }
    return claimed;
}

/// Stores what there is room for, of all that this process streams.
void Engine::push_streams(Turn& turn) {
    for_each(backlogged(), [&](instance::Instance& instance) { flush_backlog(turn, instance); });
}

}  // namespace heddle::p2p
