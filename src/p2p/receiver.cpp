// SPDX-License-Identifier: BSD-3-Clause
#include <cassert>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>

#include "core/causality.hpp"
#include "p2p/any_tag.hpp"
#include "p2p/far/far.hpp"
#include "p2p/payload/large_copy.hpp"
#include "p2p/payload/payload.hpp"
#include "p2p/program_threads.hpp"
#include "p2p/protocols/all.hpp"
#include "p2p/receiver.hpp"
#include "p2p/requests/awaited_peer.hpp"
#include "p2p/sender.hpp"

namespace heddle::p2p {
namespace {

/// Returns whether the payload is still with its sender, or on its way.
bool is_announced(const match::Message& message) noexcept {
    return protocol_of(message).fetch != nullptr;
}

/// Returns the pull of an announced payload.
Pull pull_of(core::Request& receive, std::int32_t process, std::uint8_t instance,
             const Protocol& protocol, const RemotePayload& payload) noexcept {
    return {&receive,         process,        instance,  payload.sender,
            payload.address,  payload.length, &protocol, payload.synchronous,
            payload.manifest, payload.offer};
}

/// Returns the announcement that copy_of() has kept.
RemotePayload announcement_in(match::Message& message) noexcept {
    return {message.sender, message.offer(),      message.far.address,
            message.length, message.far.manifest, message.far.synchronous};
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

/// Consumes a message that was just taken out of its queue. Unlocks the instance.
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
    // The memory of a send that is over may be another send by now. It stands for the first one.
    const auto& send = *reinterpret_cast<const core::Request*>(message.sender);
    const bool waits = &protocol_of(message) == &protocols::local;
    core::causality::matched(receive, send, waits && send.synchronous);
}

match::Pattern Receiver::pattern_of(const core::Request& receive) {
    // A wildcard is matched with the instance of the message locked, and that may be any.
    if (receive.any_tag) return {receive.context, receive.wanted_source, match::any_tag};
    const instance::InstanceLock held(base_.pool[receive.instance]);
    return {receive.context, receive.source, receive.tag};
}

/// Posts a receive past the fast path. It may belong to no instance.
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
        // The instance is in use, since the receive was posted. The receive may change until it is
        // locked.
        const instance::InstanceLock held(base_.pool[receive.instance]);
        // Matched receives are out of the queue. The others still have the wanted source.
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

/// Delivers a message that is here as a whole.
[[gnu::always_inline]] inline void Receiver::deliver_eager(ProgressCall& call,
                                                           instance::LockedInstance instance,
                                                           std::int32_t process,
                                                           const transport::Header& header) {
    core::Request* receive = match(instance, {header.context, header.source, header.tag});
    if (receive == nullptr) [[unlikely]]
        return others_.unexpected.keep(call, instance, copy_of({call, process, header, &instance}));
    count_received(instance, header.length);
    receive->peer = process;
    fill(*receive, header.payload(), header.length);
    call.complete(*receive);
}

void Receiver::deliver(ProgressCall& call, instance::LockedInstance instance, std::int32_t process,
                       const transport::Header& header) {
    const auto kind = static_cast<MessageKind>(header.kind);
    if (kind == protocols::eager_kind) [[likely]] {
        assert(is_next(process, header));
        return deliver_eager(call, instance, process, header);
    }
    const Protocol& protocol = protocol_of(kind);
    const Arrival arrival{call, process, header, &instance};
    if (is_control(kind)) return protocol.arrived(others_.parts, arrival);
    assert(is_next(process, header));
    deliver_by(protocol, arrival);
}

/// Returns whether the message may be matched. If order is asked for, no earlier message may still
/// be unmatched.
bool Receiver::is_next(std::int32_t process, const transport::Header& header) const {
    return base_.is_far(process) || base_.is_sequenced() ||
        !others_.any_tag.deferred_precede(process, header.context, header.stamp);
}

/// Delivers a message of another kind than an eager one.
void Receiver::deliver_by(const Protocol& protocol, const Arrival& arrival) {
    const auto& [call, process, header, key] = arrival;
    const instance::LockedInstance instance = *key;
    make_room(call.pulls);  // before a receive is taken, which a failure would lose
    if (protocol.ahead != nullptr) protocol.ahead(others_.parts, arrival);
    const bool offered = is_offered(protocol.kind);
    MessageOffer offer{};
    if (offered) {
        others_.offers.reach(process, header);
        offer = MessageOffer::of(fields_of<OfferedFields>(header).offer);
        if (!others_.offers.hold(process, offer)) {  // it has been taken back
            if (protocol.leave != nullptr) others_.unexpected.drop(copy_of(arrival));
            return;
        }
    }
    core::Request* receive = match(instance, {header.context, header.source, header.tag});
    if (offered) others_.offers.decide(process, offer, receive != nullptr);
    if (receive == nullptr)
        return offered ? others_.unexpected.keep_offered(call, instance, copy_of(arrival))
                       : others_.unexpected.keep(call, instance, copy_of(arrival));
    receive->peer = process;
    if (protocol.fetch != nullptr) {
        const RemotePayload payload = protocol.announced_by(header);
        count_received(instance, payload.length);
        return call.pulls.push_back(
            pull_of(*receive, process, instance.number(), protocol, payload));
    }
    count_received(instance, protocol.length(header));
    protocol.take(others_.parts, arrival, *receive);
}

match::Message& Receiver::copy_of(const Arrival& arrival) {
    const transport::Header& header = arrival.header;
    const instance::LockedInstance instance = *arrival.instance;
    const Protocol& protocol = protocol_of(header);
    if (is_offered(protocol.kind)) others_.offers.reach(arrival.process, header);
    match::Message& message =
        others_.messages.make(arrival.call.thread, instance.number(), arrival.process,
                              {header.context, header.source, header.tag});
    message.stamp = header.stamp;
    message.protocol = header.kind;
    if (protocol.keep != nullptr) {
        protocol.keep(others_.parts, arrival, message);
    } else if (protocol.announced_by != nullptr) {
        const RemotePayload payload = protocol.announced_by(header);
        message.sender = payload.sender;
        message.offer() = payload.offer;
        message.length = payload.length;
        message.far = {payload.address, payload.manifest, payload.synchronous};
    } else {
        message.length = 0;
        return message;
    }
    count_received(instance, message.length);
    return message;
}

/// Gives the receive a message that is in no queue (any more), and frees the message. `call.pulls`
/// has room.
void Receiver::consume(ProgressCall& call, core::Request& receive, match::Message& message) {
    if (is_announced(message))
        return call.pulls.push_back(take_announced(call.thread, receive, message));
    receive.source = message.envelope.source;
    receive.tag = message.envelope.tag;
    receive.peer = message.peer;
    protocol_of(message).give(others_.parts, call, receive, message);
    call.complete(receive);
    others_.messages.free(call.thread, message);
}

/// Gives the receive a message whose payload is still with its sender, and frees the message.
Pull Receiver::take_announced(core::Thread& thread, core::Request& receive,
                              match::Message& message) noexcept {
    receive.source = message.envelope.source;
    receive.tag = message.envelope.tag;
    receive.peer = message.peer;
    const Pull pull = pull_of(receive, message.peer, message.instance, protocol_of(message),
                              announcement_in(message));
    others_.messages.free(thread, message);
    return pull;
}

void Receiver::pull(ProgressCall& call, const Pull& pull) {
    if (pull.process != base_.rank) others_.threads.note_large_message();
    if (base_.is_far(pull.process)) set_awaits_payload(*pull.receive, true);
    pull.protocol->fetch(others_.parts, call, pull, fit(*pull.receive, pull.length));
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
