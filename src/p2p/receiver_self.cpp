// SPDX-License-Identifier: BSD-3-Clause
/// Messages of a process to itself. They are matched as they are sent.

#include "core/causality.hpp"
#include "p2p/any_tag.hpp"
#include "p2p/protocols/all.hpp"
#include "p2p/receiver.hpp"

namespace heddle::p2p {

void Receiver::send_to_self(core::Thread& thread, core::Request& send, const Outbound& message) {
    const std::uint32_t context = message.envelope.context;
    instance::Instance& home = base_.pool.home(context, message.envelope.tag);
    base_.classes.add(context, home.number());
    ProgressCall call(thread);
    const instance::LockedInstance locked = base_.pool.lock(home, context, message.envelope.tag);
    if (others_.any_tag.awaits_order(locked, context) && !base_.is_sequenced()) [[unlikely]] {
        locked.unlock();
        const instance::AllInstances all = base_.lock_all();
        others_.any_tag.drain_in_order(call, all);
        deliver_to_self(call, all.key(home), send, message);
    } else {
        const instance::InstanceLock held(locked);
        deliver_to_self(call, held, send, message);
    }
    finish(call);
}

/// Delivers a message. A receive that waits gets the payload after unlocking (ProgressCall::pulls).
void Receiver::deliver_to_self(ProgressCall& call, instance::LockedInstance instance,
                               core::Request& send, const Outbound& message) {
    make_room(call.pulls);
    match::Message& local =
        others_.messages.make(call.thread, instance.number(), base_.rank, message.envelope);
    local.stamp = base_.stamps.numbered()();
    local.protocol = static_cast<std::uint8_t>(protocols::local.kind);
    local.length = message.bytes;
    local.far = {reinterpret_cast<std::uint64_t>(message.data), 0, false};
    local.sender = reinterpret_cast<std::uint64_t>(&send);
    instance->receiving.self_messages.add();
    instance->receiving.self_bytes.add(message.bytes);
    match::note_posted(instance->matcher.counters());
    if (core::Request* receive = match(instance, message.envelope)) {
        note_causality(*receive, local);
        consume(call, *receive, local);
        return;
    }
    // As in Backlog::withhold().
    const bool stays = message.bytes != 0 && base_.is_under_pressure(base_.rank);
    if (!send.synchronous && message.bytes <= base_.settings.eager_limit && !stays) {
        local.protocol = static_cast<std::uint8_t>(protocols::eager.kind);
        others_.messages.copy_payload(call.thread, local, message.data,
                                      {message.bytes, message.layout});
        call.complete(send);
    }
    others_.unexpected.keep(call, instance, local);
}

bool Receiver::take_from_self(const core::Request& send) {
    const match::Envelope where{send.context, 0, send.tag};
    const instance::InstanceLock held(
        base_.pool.lock(base_.pool.home(where.context, where.tag), where.context, where.tag));
    match::Message* found = nullptr;
    held->matcher.each_kept([&](match::Message& message) {
        if (message.peer == base_.rank && &protocol_of(message) == &protocols::local &&
            message.sender == reinterpret_cast<std::uint64_t>(&send))
            found = &message;
    });
    if (found == nullptr) return false;
    others_.unexpected.discard(held, *found);
    return true;
}

}  // namespace heddle::p2p
