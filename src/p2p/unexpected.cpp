// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/unexpected.hpp"

#include <algorithm>

#include "p2p/protocols/protocol.hpp"
#include "tool/events.hpp"

namespace heddle::p2p {
namespace {

constexpr std::uint32_t least_keeps_between_sweeps = 64;

}  // namespace

void Unexpected::keep(ProgressCall& call, instance::LockedInstance instance,
                      match::Message& message) {
    instance->matcher.keep(message);
    instance->receiving.unexpected_bytes.add(footprint(message));
    pressure_.note(instance->told_unexpected, instance->receiving.unexpected_bytes.value());
    tool::raise(
        tool::Event::unexpected_message,
        {message.envelope.source, message.envelope.tag, static_cast<std::int64_t>(message.length)});
    watchers_.tell(call, message.envelope);
}

void Unexpected::keep_offered(ProgressCall& call, instance::LockedInstance instance,
                              match::Message& message) {
    const bool sweeps = offers_.any_taken_back(message);
    keep(call, instance, message);
    if (!sweeps || instance->keeps_until_sweep-- != 0) return;
    sweep(instance);
    // So a sweep costs each message that was kept since the last one a constant.
    const std::uint64_t kept = instance->matcher.counters().unexpected_queue.value();
    instance->keeps_until_sweep =
        static_cast<std::uint32_t>(std::max<std::uint64_t>(least_keeps_between_sweeps, kept));
}

match::Message* Unexpected::find(instance::LockedInstance instance,
                                 const match::Pattern& pattern) noexcept {
    match::Message* found = instance->matcher.find(pattern);
    while (found != nullptr && offers_.drops(*found)) {
        discard(instance, *found);
        found = instance->matcher.find(pattern);
    }
    return found;
}

void Unexpected::take(instance::LockedInstance instance, match::Message& message) {
    instance->matcher.take(message);
    note_taken(instance, message);
}

void Unexpected::note_taken(instance::LockedInstance instance, const match::Message& message) {
    instance->receiving.unexpected_bytes.subtract(footprint(message));
    pressure_.note(instance->told_unexpected, instance->receiving.unexpected_bytes.value());
}

bool Unexpected::accept_or_discard(instance::LockedInstance instance,
                                   match::Message& message) noexcept {
    if (offers_.accept(message)) return true;
    discard(instance, message);
    return false;
}

match::Message* Unexpected::take_accepted(instance::LockedInstance instance, core::Request& receive,
                                          match::Message* message) noexcept {
    const match::Pattern pattern{receive.context, receive.source, receive.tag};
    while (message != nullptr) {
        note_taken(instance, *message);
        if (offers_.accept(*message)) break;
        drop(*message);
        if (recording_ != nullptr) recording_->post(pattern);
        message = instance->matcher.post(receive, pattern);
    }
    return message;
}

void Unexpected::discard(instance::LockedInstance instance, match::Message& message) noexcept {
    if (recording_ != nullptr) recording_->take(message.envelope);
    take(instance, message);
    drop(message);
}

void Unexpected::drop(match::Message& message) noexcept {
    const Protocol& protocol = protocol_of(message);
    if (protocol.leave != nullptr) protocol.leave(base_, message);
    messages_.free(message);
}

void Unexpected::sweep(instance::LockedInstance instance) noexcept {
    match::Message* gone = nullptr;
    instance->matcher.each_kept([&](match::Message& message) {
        if (!offers_.drops(message)) return;
        message.next = gone;
        gone = &message;
    });
    while (gone != nullptr) {
        match::Message& message = *gone;
        gone = message.next;
        discard(instance, message);
    }
    // Relaxed: the reader has locked everything.
    sweeps_.fetch_add(1, relaxed);
}

}  // namespace heddle::p2p
