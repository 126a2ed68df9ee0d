// SPDX-License-Identifier: BSD-3-Clause
#include <cassert>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>

#include "core/causality.hpp"
#include "p2p/engine.hpp"
#include "p2p/incoming_stream.hpp"
#include "p2p/payload.hpp"

namespace heddle::p2p {
namespace {

/// Its payload is still with its sender.
bool is_announced(const match::Message& message) noexcept {
    const auto kind = static_cast<MessageKind>(message.protocol);
    return kind == MessageKind::rendezvous || kind == MessageKind::local ||
        kind == MessageKind::streamed || kind == MessageKind::readable;
}

/// Delivers a message that lies in the ring of payload, and frees its place.
void take_placed(core::Request& receive, const transport::shm::PayloadConsumer& ring,
                 const transport::shm::Piece& piece) noexcept {
    load(ring, piece, receive, piece.bytes, 0, fit(receive, piece.bytes));
    ring.free(piece);
}

}  // namespace

void Engine::consume_now(core::Thread& thread, core::Request& receive, match::Message& message) {
    ProgressCall call(thread);
    finish_after(call, [&] {
        if (is_announced(message))
            pull(call, take_announced(thread, receive, message));
        else
            consume(call, receive, message);
    });
}

/// The message was just taken out of its queue. Instance locked; not any more when it returns.
core::Request* Engine::consume_taken(core::Thread& thread, instance::Instance& instance,
                                     core::Request& receive, match::Message& message) {
    match::Message* accepted = take_accepted(instance, receive, &message);
    instance.lock.unlock();
    if (accepted != nullptr) consume_now(thread, receive, *accepted);
    return &receive;
}

core::Request* Engine::receive_matched(core::Thread& thread, match::Message& message,
                                       const Inbound& inbound) {
    core::Request* receive = new_receive(thread, inbound);
    if (receive == nullptr) return nullptr;
    receive->any_tag = false;
    receive->context = message.envelope.context;
    receive->instance = message.instance;
    match::mark_taken(*receive);  // it was never posted
    if (platform::races_are_sought()) {
        core::causality::posted(*receive);
        note_causality(*receive, message);
    }
    message.kind.store(core::Kind::none, relaxed);
    consume_now(thread, *receive, message);
    return receive;
}

/// The receive has been given the message, which is still there.
void Engine::note_causality(core::Request& receive, const match::Message& message) noexcept {
    if (!platform::races_are_sought() || message.peer != rank_) return;
    receive.peer = rank_;
    // A send that is over may be another by now; it stands for what it was.
    const auto& send = *reinterpret_cast<const core::Request*>(message.sender);
    const bool waits = message.protocol == static_cast<std::uint8_t>(MessageKind::local);
    core::causality::matched(receive, send, waits && send.synchronous);
}

match::Pattern Engine::pattern_of(const core::Request& receive) {
    // A wildcard is matched with the instance of the message locked, whichever that is.
    if (receive.any_tag) return {receive.context, match::any_source, match::any_tag};
    instance::Instance& instance = pool_[receive.instance];
    const std::lock_guard held(instance.lock);
    return {receive.context, receive.source, receive.tag};
}

core::Request* Engine::match_with_wildcards(instance::Instance& instance,
                                            match::Envelope envelope) noexcept {
    core::Request* receive = instance.matcher.posted_for(envelope);
    const std::uint64_t before = receive == nullptr ? ~std::uint64_t{0} : receive->order;
    if (core::Request* wildcard = take_wildcard(instance, envelope, before))
        receive = wildcard;
    else if (receive != nullptr)
        instance.matcher.take_posted(*receive);
    if (receive == nullptr) return nullptr;
    receive->source = envelope.source;
    receive->tag = envelope.tag;
    return receive;
}

/// A message that is here as a whole. Instance locked.
[[gnu::always_inline]] inline void Engine::deliver_eager(ProgressCall& call,
                                                         instance::Instance& instance,
                                                         std::int32_t process,
                                                         const transport::Header& header) {
    core::Request* receive = match(instance, {header.context, header.source, header.tag});
    if (receive == nullptr) [[unlikely]]
        return keep(call, instance, copy_of(call.thread, header, process, instance.number));
    count_received(instance, header.length);
    receive->peer = process;
    fill(*receive, header.payload(), header.length);
    call.complete(*receive);
}

/// Instance locked.
void Engine::deliver(ProgressCall& call, instance::Instance& instance, instance::Inlet& inlet,
                     const transport::Header& header) {
    const auto kind = static_cast<MessageKind>(header.kind);
    if (is_control(kind)) [[unlikely]]
        return deliver_control(call, instance, inlet.process, header);
    assert(is_sequenced() || !deferred_.precede(inlet.process, header.context, header.stamp));
    if (kind != MessageKind::eager) [[unlikely]]
        return kind == MessageKind::placed
            ? deliver_placed(call, instance, inlet, header)
            : deliver_announced(call, instance, inlet.process, header);
    deliver_eager(call, instance, inlet.process, header);
}

/// A message that has no payload in a ring of payload. Instance locked.
void Engine::deliver_unplaced(ProgressCall& call, instance::Instance& instance,
                              std::int32_t process, const transport::Header& header) {
    switch (static_cast<MessageKind>(header.kind)) {
        case MessageKind::eager: return deliver_eager(call, instance, process, header);
        case MessageKind::readable: return deliver_readable(call, instance, process, header);
        default: return deliver_announced(call, instance, process, header);
    }
}

/// A message whose payload is to be read by the network. Instance locked.
void Engine::deliver_readable(ProgressCall& call, instance::Instance& instance,
                              std::int32_t process, const transport::Header& header) {
    make_room(call.pulls);  // before there is a receive to be lost
    core::Request* receive = match(instance, {header.context, header.source, header.tag});
    if (receive == nullptr)
        return keep(call, instance, copy_of(call.thread, header, process, instance.number));
    const auto fields = fields_of<ReadableFields>(header);
    count_received(instance, fields.length);
    Pull pull{receive, process, instance.number, fields.sender, fields.address, fields.length};
    pull.key = fields.key;
    pull.readable = true;
    call.pulls.push_back(pull);
}

/// A message whose payload lies in the ring of payload. Instance locked.
void Engine::deliver_placed(ProgressCall& call, instance::Instance& instance,
                            instance::Inlet& inlet, const transport::Header& header) {
    const auto fields = fields_of<PlacedFields>(header);
    inlet.payload.ask_for({fields.place, fields.length});
    core::Request* receive = match(instance, {header.context, header.source, header.tag});
    if (receive == nullptr)
        return keep(call, instance, copy_of(call.thread, header, inlet.process, instance.number));
    count_received(instance, fields.length);
    receive->peer = inlet.process;
    take_placed(*receive, inlet.payload, {fields.place, fields.length});
    call.complete(*receive);
}

/// A message whose sender waits for an answer, or streams it. Instance locked.
void Engine::deliver_announced(ProgressCall& call, instance::Instance& instance,
                               std::int32_t process, const transport::Header& header) {
    make_room(call.pulls);  // before there is a receive to be lost
    offers_.reach(process, header);
    const MessageOffer offer = MessageOffer::of(fields_of<OfferedFields>(header).offer);
    if (!offers_.hold(process, offer)) {
        if (static_cast<MessageKind>(header.kind) == MessageKind::streamed)
            drop(copy_of(call.thread, header, process, instance.number));
        return;
    }
    core::Request* receive = match(instance, {header.context, header.source, header.tag});
    offers_.decide(process, offer, receive != nullptr);
    if (receive == nullptr)
        return keep_offered(call, instance, copy_of(call.thread, header, process, instance.number));
    receive->peer = process;
    if (static_cast<MessageKind>(header.kind) == MessageKind::eager_sync) {
        const auto fields = fields_of<OfferedFields>(header);
        count_received(instance, header.length - sizeof fields);
        fill(*receive, header.payload() + sizeof fields, header.length - sizeof fields);
        const SenderField field{fields.sender};
        control(call, instance.number, process, MessageKind::ack, &field, sizeof field);
        return call.complete(*receive);
    }
    if (static_cast<MessageKind>(header.kind) == MessageKind::streamed) {
        const auto fields = fields_of<StreamedFields>(header);
        count_received(instance, fields.length);
        call.pulls.push_back({receive, process, instance.number, fields.sender, fields.address,
                              fields.length, true, fields.synchronous != 0,
                              static_cast<std::uint8_t>(fields.manifest)});
        return;
    }
    const auto fields = fields_of<RendezvousFields>(header);
    count_received(instance, fields.length);
    call.pulls.push_back(
        {receive, process, instance.number, fields.sender, fields.address, fields.length});
}

void Engine::deliver_control(ProgressCall& call, instance::Instance& instance, std::int32_t process,
                             const transport::Header& header) {
    switch (static_cast<MessageKind>(header.kind)) {
        case MessageKind::fin: end_send(call, instance, fields_of<SenderField>(header)); break;
        case MessageKind::ack:
            call.complete(*reinterpret_cast<core::Request*>(fields_of<SenderField>(header).sender));
            break;
        case MessageKind::payload_ring:
            copies_.open_payload_ring(instance, process, fields_of<PayloadRingFields>(header));
            break;
        case MessageKind::cts: stream(call, instance, fields_of<CtsFields>(header)); break;
        case MessageKind::share: {
            const auto fields = fields_of<ShareFields>(header);
            make_room(call.shares);
            call.shares.push_back({process, instance.number, fields.sender, fields.number});
            break;
        }
        case MessageKind::shared:
            copies_.end_sharing(call, instance, process, fields_of<SharedFields>(header));
            break;
        case MessageKind::letter:
            guest_listener_->letter(call, process, fields_of<LetterFields>(header));
            break;
        default: receive_data(call, header); break;
    }
}

/// A fragment of a pipelined message.
void Engine::receive_data(ProgressCall& call, const transport::Header& header) {
    const auto fields = fields_of<DataFields>(header);
    auto& receive = *reinterpret_cast<core::Request*>(fields.receiver);
    const std::uint64_t bytes = header.length - sizeof fields;
    scatter(receive, fields.offset, header.payload() + sizeof fields, bytes);
    receive.remaining -= bytes;
    if (receive.remaining != 0) return;
    call.thread.copying.pipelined_bytes.add(receive.bytes);
    call.complete(receive);
}

match::Message& Engine::new_message(core::Thread& thread, std::uint8_t instance,
                                    std::int32_t process, const match::Envelope& envelope) {
    match::Message* message = thread.messages.take(messages_);
    if (message == nullptr) throw std::bad_alloc();
    message->kind.store(core::Kind::none, relaxed);
    message->envelope = envelope;
    message->instance = instance;
    message->peer = process;
    message->payload = nullptr;
    return *message;
}

void Engine::keep_payload(core::Thread& thread, match::Message& message, const std::byte* data,
                          Shape shape, std::size_t room) {
    message.length = shape.bytes;
    if (shape.bytes == 0) return;
    message.payload =
        shape.bytes <= room ? message.small : thread.blocks.take(shape.bytes, blocks_);
    if (message.payload == nullptr) {
        free_message(thread, message);
        throw std::bad_alloc();
    }
    gather(message.payload, data, shape.layout, 0, shape.bytes);
}

/// Copies the payload out of its ring, for what comes after it. It stays there if it is long, or memory short.
void Engine::keep_placed(core::Thread& thread, match::Message& message,
                         transport::shm::Piece piece) {
    if (piece.bytes > settings_.eager_limit || is_under_pressure(rank_)) {
        message.length = piece.bytes;
        message.far = {piece.at, 0, false};
        return;
    }
    const auto& ring = pool_.inlet(pool_[message.instance], message.peer).payload;
    keep_payload(thread, message, ring.at(piece.at), {piece.bytes});
    ring.free(piece);
    message.protocol = static_cast<std::uint8_t>(MessageKind::eager);
}

void Engine::free_message(core::Thread& thread, match::Message& message) noexcept {
    if (message.payload != nullptr && message.payload != message.small)
        thread.blocks.give(message.payload, message.length, blocks_);
    message.protocol = match::no_protocol;
    thread.messages.give(message, messages_);
}

/// The same where there are no pools of a thread at hand.
void Engine::free_message(match::Message& message) noexcept {
    if (message.payload != message.small) std::free(message.payload);
    message.protocol = match::no_protocol;
    message.next = nullptr;
    messages_.give(&message);
}

void Engine::empty_pools(core::Thread& thread) noexcept {
    thread.messages.drain(messages_);
    thread.blocks.drain(blocks_);
}

match::Message& Engine::copy_of(core::Thread& thread, const transport::Header& header,
                                std::int32_t process, std::uint8_t instance) {
    if (is_offered(static_cast<MessageKind>(header.kind))) offers_.reach(process, header);
    match::Message& message =
        new_message(thread, instance, process, {header.context, header.source, header.tag});
    message.stamp = header.stamp;
    message.protocol = header.kind;
    switch (static_cast<MessageKind>(header.kind)) {
        case MessageKind::eager:
            keep_payload(thread, message, header.payload(), {header.length});
            break;
        case MessageKind::eager_sync: {
            const auto fields = fields_of<OfferedFields>(header);
            message.sender = fields.sender;
            message.offer() = fields.offer;
            keep_payload(thread, message, header.payload() + sizeof fields,
                         {header.length - sizeof fields}, match::Message::small_beside_offer);
            break;
        }
        case MessageKind::placed: {
            const auto fields = fields_of<PlacedFields>(header);
            keep_placed(thread, message, {fields.place, fields.length});
            break;
        }
        case MessageKind::streamed: {
            const auto fields = fields_of<StreamedFields>(header);
            message.sender = fields.sender;
            message.offer() = fields.offer;
            message.length = fields.length;
            message.far = {fields.address, static_cast<std::uint8_t>(fields.manifest),
                           fields.synchronous != 0};
            break;
        }
        case MessageKind::readable: {
            const auto fields = fields_of<ReadableFields>(header);
            message.sender = fields.sender;
            message.offer() = fields.key;
            message.length = fields.length;
            message.far = {fields.address, 0, false};
            break;
        }
        case MessageKind::nothing: message.length = 0; return message;
        default: {
            const auto fields = fields_of<RendezvousFields>(header);
            message.sender = fields.sender;
            message.offer() = fields.offer;
            message.length = fields.length;
            message.far = {fields.address, 0, false};
        }
    }
    count_received(pool_[instance], message.length);
    return message;
}

/// Instance locked.
void Engine::keep(ProgressCall& call, instance::Instance& instance, match::Message& message) {
    instance.matcher.keep(message);
    instance.receiving.unexpected_bytes.add(footprint(message));
    pressure_.note(instance.told_unexpected, instance.receiving.unexpected_bytes.value());
    tool::raise(
        tool::Event::unexpected_message,
        {message.envelope.source, message.envelope.tag, static_cast<std::int64_t>(message.length)});
    watchers_.tell(call, message.envelope);
}

/// Takes an unexpected message out of its queue. Instance locked.
void Engine::take(instance::Instance& instance, match::Message& message) {
    instance.matcher.take(message);
    note_taken(instance, message);
}

/// Instance locked.
void Engine::note_taken(instance::Instance& instance, const match::Message& message) {
    instance.receiving.unexpected_bytes.subtract(footprint(message));
    pressure_.note(instance.told_unexpected, instance.receiving.unexpected_bytes.value());
}

/// Gives the receive a message that is in no queue (any more), and frees the message. `call.pulls` has room.
void Engine::consume(ProgressCall& call, core::Request& receive, match::Message& message) {
    if (is_announced(message))
        return call.pulls.push_back(take_announced(call.thread, receive, message));
    receive.source = message.envelope.source;
    receive.tag = message.envelope.tag;
    receive.peer = message.peer;
    if (static_cast<MessageKind>(message.protocol) == MessageKind::eager_sync) {
        const SenderField field{message.sender};
        control(call, message.instance, message.peer, MessageKind::ack, &field, sizeof field);
    }
    if (static_cast<MessageKind>(message.protocol) == MessageKind::placed) {
        const auto& ring = pool_.inlet(pool_[message.instance], message.peer).payload;
        take_placed(receive, ring, {message.far.address, message.length});
    } else {
        fill(receive, message.payload, message.length);
    }
    call.complete(receive);
    free_message(call.thread, message);
}

/// Gives the receive a message whose payload is still with its sender, and frees the message.
Pull Engine::take_announced(core::Thread& thread, core::Request& receive,
                            match::Message& message) noexcept {
    receive.source = message.envelope.source;
    receive.tag = message.envelope.tag;
    receive.peer = message.peer;
    const bool streamed = static_cast<MessageKind>(message.protocol) == MessageKind::streamed;
    Pull pull{&receive,
              message.peer,
              message.instance,
              message.sender,
              message.far.address,
              message.length,
              streamed,
              message.far.synchronous,
              message.far.manifest};
    pull.readable = static_cast<MessageKind>(message.protocol) == MessageKind::readable;
    if (pull.readable) pull.key = message.offer();
    free_message(thread, message);
    return pull;
}

/// The payload of a matched message that did not come with its header. No lock is held.
void Engine::pull(ProgressCall& call, const Pull& pull) {
    core::Request& receive = *pull.receive;
    const std::uint64_t bytes = fit(receive, pull.length);
    if (pull.process == rank_) {
        auto& send = *reinterpret_cast<core::Request*>(pull.sender);
        transfer(send, receive, bytes);
        call.complete(send);
        return call.complete(receive);
    }
    note_large_message();
    if (pull.streamed) return copies_.take_stream(call, pull, bytes);
    if (pull.readable && read_far(call, pull, bytes)) return;
    copies_.fetch(call, pull, bytes);
}

}  // namespace heddle::p2p
