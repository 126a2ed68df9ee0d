// SPDX-License-Identifier: BSD-3-Clause
/// Cancelling (MPI 5.0, 3.8.4): receives that no message has matched, and sends that no receive has.
///
/// A send that waits for room in a ring is taken out of the backlog. One that has been handed over is an offer, which
/// its sender takes back whatever the receiver does (sync/offers.hpp, docs/adr/0028). The receiver drops it
/// where it comes across it: in a ring, among deferred messages, or in a queue of unexpected ones when it
/// searches there, or after so many have been added that a sweep costs little.

#include <algorithm>
#include <mutex>

#include "p2p/engine.hpp"

namespace heddle::p2p {
namespace {

constexpr std::uint32_t least_keeps_between_sweeps = 64;

}  // namespace

bool Engine::cancel_receive(core::Thread& thread, core::Request& receive) {
    bool taken = false;
    if (receive.any_tag) {
        taken = cancel_wildcard(receive);
    } else {
        instance::Instance& instance = pool_[receive.instance];
        // In use, since something was posted; what is posted may change until it is locked.
        const std::lock_guard held(instance.lock);
        // Matched receives are out of the queue; those that are not still have the wanted source.
        taken = !receive.completed() && instance.matcher.cancel(receive);
    }
    if (!taken) return false;
    if (recording_ != nullptr) recording_->cancel({receive.context, receive.source, receive.tag});
    receive.cancelled = true;
    ProgressCall call(thread);
    call.complete(receive);
    finish(call);
    return true;
}

// --- the sender ---

void Engine::cancel_send(core::Thread& thread, core::Request& send) {
    if (send.completed()) return;
    ProgressCall call(thread);
    if (is_self(send.peer)) {
        if (take_from_self(send)) complete_cancelled(call, send);
    } else if (is_far(send.peer)) {
        cancel_far_send(call, send);
    } else {
        instance::Instance& instance = pool_[send.instance];
        // Held, so that nothing is handed over, and no slot goes on to another message, meanwhile.
        const sync::BiasedHold held(instance.outbox, thread.token);
        instance::Channel& channel = instance.channels[send.peer];
        if (!send.completed() &&
            (backlog_.take_out(instance, channel, send) || offers_.take_back(send))) {
            if (send.streamed) backlog_.streams().drop(channel, send);
            complete_cancelled(call, send);
        }
        backlog_.flush_held(call, instance);
    }
    finish(call);
}

void Engine::complete_cancelled(ProgressCall& call, core::Request& send) noexcept {
    if (send.announced) announced_.end();
    send.cancelled = true;
    call.complete(send);
}

/// Takes a message of this process to itself out of the unexpected queue.
bool Engine::take_from_self(const core::Request& send) {
    const match::Envelope where{send.context, 0, send.tag};
    instance::Instance& instance = pool_.home(where.context, where.tag);
    lock(instance, where);
    const std::lock_guard held(instance.lock, std::adopt_lock);
    match::Message* found = nullptr;
    instance.matcher.each_kept([&](match::Message& message) {
        if (message.peer == rank_ &&
            message.protocol == static_cast<std::uint8_t>(MessageKind::local) &&
            message.sender == reinterpret_cast<std::uint64_t>(&send))
            found = &message;
    });
    if (found == nullptr) return false;
    discard(instance, *found);
    return true;
}

// --- the receiver ---

/// Whether the kept message is still to be had; else it goes. Instance locked.
bool Engine::accept_or_discard(match::Message& message) noexcept {
    if (offers_.accept(message)) return true;
    discard(pool_[message.instance], message);
    return false;
}

/// The first kept message that the pattern accepts. Instance locked.
match::Message* Engine::find_kept(instance::Instance& instance,
                                  const match::Pattern& pattern) noexcept {
    match::Message* found = instance.matcher.find(pattern);
    while (found != nullptr && offers_.drops(*found)) {
        discard(instance, *found);
        found = instance.matcher.find(pattern);
    }
    return found;
}

/// The receive was just given `message`. The one that it gets; nullptr: it has been posted. Instance locked.
match::Message* Engine::take_accepted(instance::Instance& instance, core::Request& receive,
                                      match::Message* message) noexcept {
    const match::Pattern pattern{receive.context, receive.source, receive.tag};
    while (message != nullptr) {
        note_taken(instance, *message);
        if (offers_.accept(*message)) break;
        drop(*message);
        if (recording_ != nullptr) recording_->post(pattern);
        message = instance.matcher.post(receive, pattern);
    }
    return message;
}

/// A kept message that has been taken back. Instance locked.
void Engine::discard(instance::Instance& instance, match::Message& message) noexcept {
    if (recording_ != nullptr) recording_->take(message.envelope);
    take(instance, message);
    drop(message);
}

/// A message that is in no queue (any more), and that nobody is going to receive. Instance locked.
void Engine::drop(match::Message& message) noexcept {
    copies_.leave(message);
    free_message(message);
}

/// As keep(). Instance locked.
void Engine::keep_offered(ProgressCall& call, instance::Instance& instance,
                          match::Message& message) {
    const bool sweeps = offers_.any_taken_back(message);
    keep(call, instance, message);
    if (!sweeps || instance.keeps_until_sweep-- != 0) return;
    sweep(instance);
    // So a sweep costs each message that was kept since the last one a constant.
    const std::uint64_t kept = instance.matcher.counters().unexpected_queue.value();
    instance.keeps_until_sweep =
        static_cast<std::uint32_t>(std::max<std::uint64_t>(least_keeps_between_sweeps, kept));
}

/// Drops the kept messages that have been taken back. Instance locked.
void Engine::sweep(instance::Instance& instance) noexcept {
    match::Message* gone = nullptr;
    instance.matcher.each_kept([&](match::Message& message) {
        if (!offers_.drops(message)) return;
        message.next = gone;
        gone = &message;
    });
    while (gone != nullptr) {
        match::Message& message = *gone;
        gone = message.next;
        discard(instance, message);
    }
    // Relaxed: asked by whoever has locked everything.
    sweeps_.fetch_add(1, relaxed);
}

}  // namespace heddle::p2p
