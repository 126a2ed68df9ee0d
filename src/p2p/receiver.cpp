// SPDX-License-Identifier: BSD-3-Clause
#include <cassert>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>

#include "core/causality.hpp"
#include "p2p/any_tag.hpp"
#include "p2p/awaited_peer.hpp"
#include "p2p/far.hpp"
#include "p2p/guest_listener.hpp"
#include "p2p/incoming_stream.hpp"
#include "p2p/large_copy.hpp"
#include "p2p/payload.hpp"
#include "p2p/program_threads.hpp"
#include "p2p/receiver.hpp"
#include "p2p/sender.hpp"

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

void Receiver::consume_now(core::Thread& thread, core::Request& receive, match::Message& message) {
    ProgressCall call(thread);
    finish_after(call, [&] {
        if (is_announced(message))
            pull(call, take_announced(thread, receive, message));
        else
            consume(call, receive, message);
    });
}

/// The message was just taken out of its queue. Unlocks the instance.
core::Request* Receiver::consume_taken(core::Thread& thread, instance::LockedInstance instance,
                                       core::Request& receive, match::Message& message) {
    match::Message* accepted = others_.unexpected.take_accepted(instance, receive, &message);
    instance.unlock();
    if (accepted != nullptr) consume_now(thread, receive, *accepted);
    return &receive;
}

core::Request* Receiver::receive_matched(core::Thread& thread, match::Message& message,
                                         const Inbound& inbound) {
    core::Request* receive = make(base_, thread, inbound);
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

void Receiver::note_causality(core::Request& receive, const match::Message& message) noexcept {
    if (!platform::races_are_sought() || message.peer != base_.rank) return;
    receive.peer = base_.rank;
    // A send that is over may be another by now; it stands for what it was.
    const auto& send = *reinterpret_cast<const core::Request*>(message.sender);
    const bool waits = message.protocol == static_cast<std::uint8_t>(MessageKind::local);
    core::causality::matched(receive, send, waits && send.synchronous);
}

match::Pattern Receiver::pattern_of(const core::Request& receive) {
    // A wildcard is matched with the instance of the message locked, whichever that is.
    if (receive.any_tag) return {receive.context, receive.wanted_source, match::any_tag};
    const instance::InstanceLock held(base_.pool[receive.instance]);
    return {receive.context, receive.source, receive.tag};
}

/// A receive that belongs to no instance, or a recipe of the laboratory.
core::Request* Receiver::post_slowly(core::Thread& thread, core::Request& receive,
                                     bool allow_overtaking) {
    receive.any_tag = receive.tag == match::any_tag;
    if (platform::races_are_sought()) core::causality::posted(receive);
    if (receive.any_tag)
        return others_.any_tag.post(thread, receive, !allow_overtaking && !base_.is_sequenced());
    return post_exactly(thread, receive);
}

bool Receiver::cancel(core::Thread& thread, core::Request& receive) {
    bool taken = false;
    if (receive.any_tag) {
        taken = others_.any_tag.cancel(receive);
    } else {
        // In use, since something was posted; what is posted may change until it is locked.
        const instance::InstanceLock held(base_.pool[receive.instance]);
        // Matched receives are out of the queue; those that are not still have the wanted source.
        taken = !receive.completed() && held->matcher.cancel(receive);
    }
    if (!taken) return false;
    if (base_.recording != nullptr)
        base_.recording->cancel({receive.context, receive.source, receive.tag});
    receive.cancelled = true;
    ProgressCall call(thread);
    call.complete(receive);
    finish(call);
    return true;
}

/// A message that is here as a whole.
[[gnu::always_inline]] inline void Receiver::deliver_eager(ProgressCall& call,
                                                           instance::LockedInstance instance,
                                                           std::int32_t process,
                                                           const transport::Header& header) {
    core::Request* receive = match(instance, {header.context, header.source, header.tag});
    if (receive == nullptr) [[unlikely]]
        return others_.unexpected.keep(call, instance,
                                       copy_of(call.thread, header, process, instance));
    count_received(instance, header.length);
    receive->peer = process;
    fill(*receive, header.payload(), header.length);
    call.complete(*receive);
}

void Receiver::deliver(ProgressCall& call, instance::LockedInstance instance,
                       instance::Inlet& inlet, const transport::Header& header) {
    const auto kind = static_cast<MessageKind>(header.kind);
    if (is_control(kind)) [[unlikely]]
        return deliver_control(call, instance, inlet.process, header);
    assert(base_.is_sequenced() ||
           !others_.any_tag.deferred_precede(inlet.process, header.context, header.stamp));
    if (kind != MessageKind::eager) [[unlikely]]
        return kind == MessageKind::placed
            ? deliver_placed(call, instance, inlet, header)
            : deliver_announced(call, instance, inlet.process, header);
    deliver_eager(call, instance, inlet.process, header);
}

void Receiver::deliver_unplaced(ProgressCall& call, instance::LockedInstance instance,
                                std::int32_t process, const transport::Header& header) {
    switch (static_cast<MessageKind>(header.kind)) {
        case MessageKind::eager: return deliver_eager(call, instance, process, header);
        case MessageKind::readable: return deliver_readable(call, instance, process, header);
        default: return deliver_announced(call, instance, process, header);
    }
}

/// A message whose payload is to be read by the network.
void Receiver::deliver_readable(ProgressCall& call, instance::LockedInstance instance,
                                std::int32_t process, const transport::Header& header) {
    make_room(call.pulls);  // before there is a receive to be lost
    core::Request* receive = match(instance, {header.context, header.source, header.tag});
    if (receive == nullptr)
        return others_.unexpected.keep(call, instance,
                                       copy_of(call.thread, header, process, instance));
    receive->peer = process;
    const auto fields = fields_of<ReadableFields>(header);
    count_received(instance, fields.length);
    Pull pull{receive, process, instance.number(), fields.sender, fields.address, fields.length};
    pull.key = fields.key;
    pull.readable = true;
    call.pulls.push_back(pull);
}

/// A message whose payload lies in the ring of payload.
void Receiver::deliver_placed(ProgressCall& call, instance::LockedInstance instance,
                              instance::Inlet& inlet, const transport::Header& header) {
    const auto fields = fields_of<PlacedFields>(header);
    inlet.payload.ask_for({fields.place, fields.length});
    core::Request* receive = match(instance, {header.context, header.source, header.tag});
    if (receive == nullptr)
        return others_.unexpected.keep(call, instance,
                                       copy_of(call.thread, header, inlet.process, instance));
    count_received(instance, fields.length);
    receive->peer = inlet.process;
    take_placed(*receive, inlet.payload, {fields.place, fields.length});
    call.complete(*receive);
}

/// A message whose sender waits for an answer, or streams it.
void Receiver::deliver_announced(ProgressCall& call, instance::LockedInstance instance,
                                 std::int32_t process, const transport::Header& header) {
    make_room(call.pulls);  // before there is a receive to be lost
    others_.offers.reach(process, header);
    const MessageOffer offer = MessageOffer::of(fields_of<OfferedFields>(header).offer);
    if (!others_.offers.hold(process, offer)) {
        if (static_cast<MessageKind>(header.kind) == MessageKind::streamed)
            others_.unexpected.drop(copy_of(call.thread, header, process, instance));
        return;
    }
    core::Request* receive = match(instance, {header.context, header.source, header.tag});
    others_.offers.decide(process, offer, receive != nullptr);
    if (receive == nullptr)
        return others_.unexpected.keep_offered(call, instance,
                                               copy_of(call.thread, header, process, instance));
    receive->peer = process;
    if (static_cast<MessageKind>(header.kind) == MessageKind::eager_sync) {
        const auto fields = fields_of<OfferedFields>(header);
        count_received(instance, header.length - sizeof fields);
        fill(*receive, header.payload() + sizeof fields, header.length - sizeof fields);
        const SenderField field{fields.sender};
        others_.sender.control(call, instance.number(), process, MessageKind::ack, &field,
                               sizeof field);
        return call.complete(*receive);
    }
    if (static_cast<MessageKind>(header.kind) == MessageKind::streamed) {
        const auto fields = fields_of<StreamedFields>(header);
        count_received(instance, fields.length);
        call.pulls.push_back({receive, process, instance.number(), fields.sender, fields.address,
                              fields.length, true, fields.synchronous != 0,
                              static_cast<std::uint8_t>(fields.manifest)});
        return;
    }
    const auto fields = fields_of<RendezvousFields>(header);
    count_received(instance, fields.length);
    call.pulls.push_back(
        {receive, process, instance.number(), fields.sender, fields.address, fields.length});
}

void Receiver::deliver_control(ProgressCall& call, instance::LockedInstance instance,
                               std::int32_t process, const transport::Header& header) {
    switch (static_cast<MessageKind>(header.kind)) {
        case MessageKind::fin:
            others_.sender.end(call, instance.instance(), fields_of<SenderField>(header));
            break;
        case MessageKind::ack:
            call.complete(*reinterpret_cast<core::Request*>(fields_of<SenderField>(header).sender));
            break;
        case MessageKind::payload_ring:
            others_.copies.open_payload_ring(instance, process,
                                             fields_of<PayloadRingFields>(header));
            break;
        case MessageKind::cts:
            others_.sender.stream(call, instance.instance(), fields_of<CtsFields>(header));
            break;
        case MessageKind::share: {
            const auto fields = fields_of<ShareFields>(header);
            make_room(call.shares);
            call.shares.push_back({process, instance.number(), fields.sender, fields.number});
            break;
        }
        case MessageKind::shared:
            others_.copies.end_sharing(call, instance.number(), process,
                                       fields_of<SharedFields>(header));
            break;
        case MessageKind::letter:
            base_.guest_listener->letter(call, process, fields_of<LetterFields>(header));
            break;
        default: receive_data(call, header); break;
    }
}

void Receiver::receive_data(ProgressCall& call, const transport::Header& header) {
    const auto fields = fields_of<DataFields>(header);
    auto& receive = *reinterpret_cast<core::Request*>(fields.receiver);
    const std::uint64_t bytes = header.length - sizeof fields;
    scatter(receive, fields.offset, header.payload() + sizeof fields, bytes);
    receive.remaining -= bytes;
    if (receive.remaining != 0) return;
    call.thread.copying.pipelined_bytes.add(receive.bytes);
    set_awaits_payload(receive, false);
    call.complete(receive);
}

/// Copies the payload out of its ring, for what comes after it. It stays there if it is long, or memory short.
void Receiver::keep_placed(core::Thread& thread, match::Message& message,
                           transport::shm::Piece piece) {
    if (piece.bytes > base_.settings.eager_limit || base_.is_under_pressure(base_.rank)) {
        message.length = piece.bytes;
        message.far = {piece.at, 0, false};
        return;
    }
    const auto& ring = base_.pool.payload(message.instance, message.peer);
    others_.messages.copy_payload(thread, message, ring.at(piece.at), {piece.bytes});
    ring.free(piece);
    message.protocol = static_cast<std::uint8_t>(MessageKind::eager);
}

match::Message& Receiver::copy_of(core::Thread& thread, const transport::Header& header,
                                  std::int32_t process, instance::LockedInstance instance) {
    if (is_offered(static_cast<MessageKind>(header.kind))) others_.offers.reach(process, header);
    match::Message& message = others_.messages.make(thread, instance.number(), process,
                                                    {header.context, header.source, header.tag});
    message.stamp = header.stamp;
    message.protocol = header.kind;
    switch (static_cast<MessageKind>(header.kind)) {
        case MessageKind::eager:
            others_.messages.copy_payload(thread, message, header.payload(), {header.length});
            break;
        case MessageKind::eager_sync: {
            const auto fields = fields_of<OfferedFields>(header);
            message.sender = fields.sender;
            message.offer() = fields.offer;
            others_.messages.copy_payload(thread, message, header.payload() + sizeof fields,
                                          {header.length - sizeof fields},
                                          match::Message::small_beside_offer);
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
    count_received(instance, message.length);
    return message;
}

/// Gives the receive a message that is in no queue (any more), and frees the message. `call.pulls` has room.
void Receiver::consume(ProgressCall& call, core::Request& receive, match::Message& message) {
    if (is_announced(message))
        return call.pulls.push_back(take_announced(call.thread, receive, message));
    receive.source = message.envelope.source;
    receive.tag = message.envelope.tag;
    receive.peer = message.peer;
    if (static_cast<MessageKind>(message.protocol) == MessageKind::eager_sync) {
        const SenderField field{message.sender};
        others_.sender.control(call, message.instance, message.peer, MessageKind::ack, &field,
                               sizeof field);
    }
    if (static_cast<MessageKind>(message.protocol) == MessageKind::placed) {
        const auto& ring = base_.pool.payload(message.instance, message.peer);
        take_placed(receive, ring, {message.far.address, message.length});
    } else {
        fill(receive, message.payload, message.length);
    }
    call.complete(receive);
    others_.messages.free(call.thread, message);
}

/// Gives the receive a message whose payload is still with its sender, and frees the message.
Pull Receiver::take_announced(core::Thread& thread, core::Request& receive,
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
    others_.messages.free(thread, message);
    return pull;
}

void Receiver::pull(ProgressCall& call, const Pull& pull) {
    core::Request& receive = *pull.receive;
    const std::uint64_t bytes = fit(receive, pull.length);
    if (pull.process == base_.rank) {
        auto& send = *reinterpret_cast<core::Request*>(pull.sender);
        transfer(send, receive, bytes);
        call.complete(send);
        return call.complete(receive);
    }
    others_.threads.note_large_message();
    if (base_.is_far(pull.process)) set_awaits_payload(receive, true);
    if (pull.streamed) return others_.copies.take_stream(call, pull, bytes);
    if (pull.readable && others_.far.read(call, pull, bytes)) return;
    others_.copies.fetch(call, pull, bytes);
}

void Receiver::match_taken_out(ProgressCall& call, instance::LockedInstance instance,
                               match::Message& message) {
    assert(
        base_.is_sequenced() ||
        !others_.any_tag.deferred_precede(message.peer, message.envelope.context, message.stamp));
    make_room(call.pulls);
    if (!others_.offers.hold(message)) return others_.unexpected.drop(message);
    core::Request* receive = match(instance, message.envelope);
    others_.offers.decide(message, receive != nullptr);
    if (receive != nullptr)
        consume(call, *receive, message);
    else
        others_.unexpected.keep_offered(call, instance, message);
}

}  // namespace heddle::p2p
