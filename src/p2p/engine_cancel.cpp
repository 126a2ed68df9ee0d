// SPDX-License-Identifier: BSD-3-Clause
/// Cancelling (MPI 5.0, 3.8.4): receives that no message has matched, and sends that no receive has.
///
/// A send that waits for room in a ring is taken out of the backlog. One that has been handed over is an offer, which
/// its sender takes back whatever the receiver does (sync/offers.hpp, docs/adr/0028). The receiver drops it
/// where it comes across it: in a ring, among deferred messages, or in a queue of unexpected ones when it
/// searches there, or after so many have been added that a sweep costs little.

#include <algorithm>
#include <cstring>
#include <mutex>
#include <new>

#include "p2p/engine.hpp"

namespace heddle::p2p {
namespace {

constexpr std::uint32_t least_keeps_between_sweeps = 64;

/// The slots of what one instance offers to one process.
struct OfferBlocks {
    const transport::shm::Node& node;
    std::size_t from, to, instance;

    template <class Use>
    auto with(std::uint8_t block, Use&& use) const noexcept {
        return node.with_offers(from, to, instance, block, use);
    }
    bool add(std::uint8_t block) const noexcept {
        return node.add_offers(from, to, instance, block);
    }
};

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
    Turn turn(thread);
    turn.complete(receive);
    finish(turn);
    return true;
}

// --- the sender ---

void Engine::cancel_send(core::Thread& thread, core::Request& send) {
    if (send.completed()) return;
    Turn turn(thread);
    if (is_self(send.peer)) {
        if (take_from_self(send)) complete_cancelled(turn, send);
    } else if (is_far(send.peer)) {
        cancel_far_send(turn, send);
    } else {
        instance::Instance& instance = pool_[send.instance];
        // Held, so that nothing is handed over, and no slot goes on to another message, meanwhile.
        const sync::BiasedHold held(instance.outbox, thread.token);
        instance::Channel& channel = instance.channels[send.peer];
        if (!send.completed() &&
            (take_out_of_backlog(instance, channel, send) || take_offer_back(send))) {
            if (send.streamed) streams_.drop(channel, send);
            complete_cancelled(turn, send);
        }
        flush_held(turn, instance);
    }
    finish(turn);
}

void Engine::complete_cancelled(Turn& turn, core::Request& send) noexcept {
    if (send.announced) announced_.fetch_sub(1, relaxed);
    send.cancelled = true;
    turn.complete(send);
}

/// Numbers a message that is about to be published. Outbox held.
void Engine::offer(const instance::Instance& instance, instance::Channel& channel,
                   transport::shm::Cell& cell) noexcept {
    auto fields = fields_of<OfferedFields>(cell);
    const OfferBlocks blocks{node_, static_cast<std::size_t>(rank_),
                             static_cast<std::size_t>(channel.process), instance.number};
    const auto [number, block] = channel.next_offer.offer(blocks, !is_sequenced());
    fields.offer = MessageOffer{number, instance.number, block}.word();
    std::memcpy(cell.payload(), &fields, sizeof fields);
    reinterpret_cast<core::Request*>(fields.sender)->order = fields.offer;
}

/// Whether it is the message of this send, which is not matched yet.
bool Engine::is_of(const instance::Pending& pending, const core::Request& send) noexcept {
    const auto kind = static_cast<Kind>(pending.kind);
    if (kind == Kind::eager) return pending.completes == &send;
    if (!is_offered(kind) && kind != Kind::readable) return false;
    OfferedFields fields;  // or ReadableFields, which begin with the sender, too
    std::memcpy(&fields, pending.prefix, sizeof fields);
    return fields.sender == reinterpret_cast<std::uint64_t>(&send);
}

/// Outbox held.
bool Engine::take_out_of_backlog(instance::Instance& instance, instance::Channel& channel,
                                 const core::Request& send) noexcept {
    const auto is_it = [&](const instance::Pending& pending) { return is_of(pending, send); };
    if (!is_sequenced()) {
        instance::Pending* const taken = channel.backlog.take_if(is_it);
        if (taken != nullptr) end_pending(instance, channel, *taken);
        return taken != nullptr;
    }
    instance::Pending* const found = channel.backlog.find_if(is_it);
    if (found == nullptr) return false;
    found->kind = static_cast<std::uint8_t>(Kind::nothing);
    found->prefix_bytes = 0;
    found->data = nullptr;
    found->layout = nullptr;
    found->bytes = 0;
    found->completes = nullptr;
    return true;
}

/// Outbox held.
bool Engine::take_offer_back(const core::Request& send) noexcept {
    const MessageOffer offer = MessageOffer::of(send.order);
    if (offer.number == transport::shm::Offers::none) return false;
    const auto fence = [&] {
        sync::NodeFence::heavy();
        if (node_.page(static_cast<std::size_t>(send.peer)).fences_refused.load(relaxed) != 0)
            sync::HeavyFences::wait_for_stores();
    };
    // Of any block: the receiver sweeps.
    with_offers(rank_, send.peer, {0, offer.instance, 0},
                [](auto& offers) { offers.note_taken_back(); });
    return with_offers(rank_, send.peer, offer,
                       [&](auto& offers) { return offers.take_back(offer.number, fence); });
}

/// Takes a message of this process to itself out of the unexpected queue.
bool Engine::take_from_self(const core::Request& send) {
    const match::Envelope where{send.context, 0, send.tag};
    instance::Instance& instance = pool_.home(where.context, where.tag);
    lock(instance, where);
    const std::lock_guard held(instance.lock, std::adopt_lock);
    match::Message* found = nullptr;
    instance.matcher.each_kept([&](match::Message& message) {
        if (message.peer == rank_ && message.protocol == static_cast<std::uint8_t>(Kind::local) &&
            message.sender == reinterpret_cast<std::uint64_t>(&send))
            found = &message;
    });
    if (found == nullptr) return false;
    discard(instance, *found);
    return true;
}

// --- the receiver ---

/// Maps the slots of the message, unless they are. Before anything of it is changed: throws std::bad_alloc.
void Engine::reach_offer(std::int32_t process, const transport::Header& header) const {
    const MessageOffer offer = MessageOffer::of(fields_of<OfferedFields>(header).offer);
    if (offer.block == 0) [[likely]]
        return;
    if (node_.further_offers(static_cast<std::size_t>(process), static_cast<std::size_t>(rank_),
                             offer.instance, offer.block) == nullptr)
        throw std::bad_alloc();
}

/// Instance locked. False: its sender has taken it back.
bool Engine::accept(const match::Message& message) const noexcept {
    const MessageOffer offer = offer_of(message);
    if (!hold(message.peer, offer)) return false;
    decide(message.peer, offer, true);
    return true;
}

/// The same for a kept message.
bool Engine::accept_or_discard(match::Message& message) noexcept {
    if (accept(message)) return true;
    discard(pool_[message.instance], message);
    return false;
}

bool Engine::is_taken_back(const match::Message& message) const noexcept {
    const MessageOffer offer = offer_of(message);
    return offer.number != transport::shm::Offers::none &&
        with_offers(message.peer, rank_, offer,
                    [&](auto& offers) { return offers.is_taken_back(offer.number); });
}

/// Whether it has been taken back; then says so to its sender, and it goes. Instance locked.
bool Engine::drops(const match::Message& message) const noexcept {
    return is_taken_back(message) && !hold(message.peer, offer_of(message));
}

/// The first kept message that the pattern accepts. Instance locked.
match::Message* Engine::find_kept(instance::Instance& instance,
                                  const match::Pattern& pattern) noexcept {
    match::Message* found = instance.matcher.find(pattern);
    while (found != nullptr && drops(*found)) {
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
        if (accept(*message)) break;
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
    leave_payload(message);
    free_message(message);
}

/// As keep(). Instance locked.
void Engine::keep_offered(Turn& turn, instance::Instance& instance, match::Message& message) {
    const MessageOffer offer = offer_of(message);
    const bool sweeps = offer.number != transport::shm::Offers::none &&
        with_offers(message.peer, rank_, {0, offer.instance, 0},
                    [](auto& offers) { return offers.any_taken_back(); });
    keep(turn, instance, message);
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
        if (!drops(message)) return;
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
