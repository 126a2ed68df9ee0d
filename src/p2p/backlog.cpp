// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/backlog.hpp"
#include "p2p/protocols/all.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "p2p/message_offers.hpp"
#include "p2p/node_worker.hpp"
#include "p2p/requests/endings.hpp"

namespace heddle::p2p {
namespace {

constexpr std::size_t most_pending = std::size_t{1} << 24;
constexpr std::uint64_t fragment_bytes = 8192;
static_assert(fragment_bytes + sizeof(DataFields) <= node::most_payload);

}  // namespace

Backlog::Backlog(const node::Rings& rings, const node::Mailboxes& mailboxes, std::int32_t rank,
                 instance::Pool& pool, const MessageOffers& offers, AnnouncedSends& announced,
                 Endings& endings, bool keeps_numbers)
    : rings_(rings),
      mailboxes_(mailboxes),
      rank_(rank),
      keeps_numbers_(keeps_numbers),
      pool_(pool),
      offers_(offers),
      announced_(announced),
      endings_(endings),
      blocked_(rings.processes()),
      pending_(most_pending) {}

void Backlog::hand_over(instance::HeldOutbox outbox, instance::Channel& channel, node::Cell& cell,
                        std::size_t cells, const Outbound& message, const Prefix& prefix,
                        std::uint64_t stamp) noexcept {
    if (!is_control(prefix.kind)) announce_context(channel, message.envelope.context);
    write_cells(cell, message, prefix, stamp);
    if (is_offered(prefix.kind)) offers_.offer(outbox, channel, cell);
    channel.ring.publish(cell, cells);
    // Before the send completes: later messages of its thread must not be seen before this one.
    if (channel.ring.cold())
        mailboxes_.notify(static_cast<std::size_t>(rank_),
                          static_cast<std::size_t>(channel.process), channel.instance);
}

/// Announces the context before one of its messages is published through this channel, or is known
/// to be blocked there.
void Backlog::announce_context(instance::Channel& channel, std::uint32_t context) noexcept {
    const std::uint64_t bit = node::class_bit(context);
    if ((channel.open_for & bit) != 0) return;
    mailboxes_.of(static_cast<std::size_t>(channel.process)).use.add(context, channel.instance);
    if (channel.state == instance::Channel::State::open) channel.open_for |= bit;
}

void Backlog::queue(instance::HeldOutbox outbox, instance::Channel& channel,
                    const instance::Pending& what) {
    instance::Pending* pending = pending_.take();
    if (pending == nullptr) throw std::bad_alloc();
    *pending = what;
    try {
        if (!is_control(static_cast<MessageKind>(what.kind))) {
            announce_context(channel, what.envelope.context);
            blocked_[static_cast<std::size_t>(channel.process)].add(
                notice_for(channel.process), what.stamp, what.envelope.context);
        }
    } catch (...) {
        pending_.give(pending);
        throw;
    }
    channel.backlog.append(*pending);
    tool::counters::Backlog& counters = outbox->counters;
    counters.backlog.add();
    counters.most_backlog.raise_to(counters.backlog.value());
    if (channel.state == instance::Channel::State::backlogged) return;
    channel.state = instance::Channel::State::backlogged;
    channel.open_for = 0;
    channel.next_backlogged = outbox->backlogged;
    outbox->backlogged = &channel;
    note(outbox);
}

void Backlog::note(instance::HeldOutbox outbox) noexcept {
    if (outbox.instance().backlog().load(relaxed) != 0) return;
    outbox.instance().backlog().store(1, relaxed);
    instances_.fetch_or(Instances{1} << outbox.number(), release);
}

bool Backlog::flush(ProgressCall& call, instance::Instance& instance) {
    if (instance.backlog().load(relaxed) == 0) return false;
    const instance::OutboxHold held(instance, call.thread.token);
    return flush_held(call, held);
}

bool Backlog::flush_held(ProgressCall& call, instance::HeldOutbox outbox) {
    bool moved = false;
    for (instance::Channel** at = &outbox->backlogged; *at != nullptr;) {
        instance::Channel& channel = **at;
        if (flush_channel(call, outbox, channel)) moved = true;
        if (channel.backlog.empty()) {
            *at = channel.next_backlogged;
            channel.state = instance::Channel::State::open;
        } else {
            at = &channel.next_backlogged;
        }
    }
    if (streams_.push(call, outbox)) moved = true;
    if (outbox->backlogged == nullptr && outbox->streaming == nullptr &&
        outbox.instance().backlog().load(relaxed) != 0) {
        outbox.instance().backlog().store(0, relaxed);
        instances_.fetch_and(~(Instances{1} << outbox.number()), release);
        endings_.tell();
    }
    return moved;
}

bool Backlog::flush_channel(ProgressCall& call, instance::HeldOutbox outbox,
                            instance::Channel& channel) {
    bool moved = false;
    while (!channel.backlog.empty() && flush_one(call, outbox, channel)) moved = true;
    return moved;
}

/// Flushes the first pending message of the channel, or one fragment of it.
bool Backlog::flush_one(ProgressCall& call, instance::HeldOutbox outbox,
                        instance::Channel& channel) {
    instance::Pending& pending = channel.backlog.front();
    if (mailboxes_.is_under_pressure(channel.process)) [[unlikely]]
        if (withhold(pending, true)) outbox->counters.withheld.add();
    const bool in_pieces = is_data(pending);
    const std::uint64_t bytes = in_pieces ? std::min(pending.bytes, fragment_bytes) : pending.bytes;
    const std::size_t cells = node::cells_for(pending.prefix_bytes + bytes);
    node::Cell* cell = channel.ring.reserve_in_spite(cells);
    if (cell == nullptr) return false;
    hand_over(
        outbox, channel, *cell, cells,
        {pending.envelope, channel.process, pending.data, bytes, pending.layout, pending.offset},
        pending, pending.stamp);
    if (moves_large_payload(static_cast<MessageKind>(pending.kind)))
        wake_workers(mailboxes_, rank_, channel.process);
    if (bytes < pending.bytes) {
        pass_piece(pending, bytes);
        return true;
    }
    if (in_pieces) announced_.end();
    core::Request* const completes = pending.completes;
    end(outbox, channel, channel.backlog.take_front());
    if (completes != nullptr) call.complete(*completes);
    return true;
}

/// Ends a message that is out of the backlog: it has been published, or never will be.
void Backlog::end(instance::HeldOutbox outbox, const instance::Channel& channel,
                  instance::Pending& pending) noexcept {
    if (!is_control(static_cast<MessageKind>(pending.kind)) &&
        blocked_[static_cast<std::size_t>(channel.process)].remove(
            notice_for(channel.process), pending.stamp, pending.envelope.context))
        mailboxes_.notify_withdrawn(static_cast<std::size_t>(channel.process));
    outbox->counters.backlog.subtract();
    pending_.give(&pending);
}

bool Backlog::withhold(instance::Pending& pending, bool readable) noexcept {
    // A message without bytes gains nothing by waiting, and some calls may not wait (MPI_Win_post).
    if (pending.bytes == 0) return false;
    const MessageKind kind = Prefix(pending).kind;
    const bool synchronous = kind == EagerSyncFields::message_kind;
    const bool fits = pending.bytes <= match::Message::small_beside_offer;
    if (kind != Prefix{}.kind && (!synchronous || fits)) return false;
    EagerSyncFields offer{{reinterpret_cast<std::uint64_t>(pending.completes), 0}};
    if (synchronous) std::memcpy(&offer, pending.prefix, sizeof offer);
    const RendezvousFields fields{offer,
                                  readable && pending.layout == nullptr
                                      ? reinterpret_cast<std::uint64_t>(pending.data)
                                      : unreadable,
                                  pending.bytes};
    pending.completes = nullptr;
    set_prefix(pending, fits ? Prefix(offer) : Prefix(fields));
    if (fits) return true;
    announced_.begin(*reinterpret_cast<core::Request*>(offer.sender));
    pending.data = nullptr;
    pending.layout = nullptr;
    pending.bytes = 0;
    return true;
}

bool Backlog::flush_all(ProgressCall& call) {
    bool moved = false;
    pool_.each(instances(),
               [&](instance::Instance& instance) { moved = flush(call, instance) || moved; });
    return moved;
}

void Backlog::drop(ProgressCall& call, std::uint32_t context) {
    const auto is_it = [&](const instance::Pending& pending) {
        return pending.envelope.context == context && !is_data(pending);
    };
    pool_.each(instances(), [&](instance::Instance& instance) {
        const instance::OutboxHold held(instance, call.thread.token);
        for (auto* channel = held->backlogged; channel != nullptr;
             channel = channel->next_backlogged) {
            while (instance::Pending* const dropped = channel->backlog.take_if(is_it)) {
                core::Request* const completes = dropped->completes;
                end(held, *channel, *dropped);
                if (completes != nullptr) call.complete(*completes);
            }
        }
        (void)flush_held(call, held);  // channels without a backlog are open again
    });
}

bool Backlog::take_out(instance::HeldOutbox outbox, instance::Channel& channel,
                       const core::Request& send) noexcept {
    const auto is_it = [&](const instance::Pending& pending) { return is_of(pending, send); };
    if (!keeps_numbers_) {
        instance::Pending* const taken = channel.backlog.take_if(is_it);
        if (taken != nullptr) end(outbox, channel, *taken);
        return taken != nullptr;
    }
    instance::Pending* const found = channel.backlog.find_if(is_it);
    if (found == nullptr) return false;
    set_prefix(*found, {protocols::nothing.kind, nullptr, 0});
    found->data = nullptr;
    found->layout = nullptr;
    found->bytes = 0;
    found->completes = nullptr;
    return true;
}

Backlog::Instances Backlog::announce(core::Thread& thread, sync::CoveredFence& fence) {
    const Instances announced = instances();
    pool_.each(announced, [&](instance::Instance& instance) {
        const instance::OutboxHold held(instance, thread.token);
        for (auto* channel = held->backlogged; channel != nullptr;
             channel = channel->next_backlogged)
            if (channel->ring.starve()) fence.uncover();
    });
    return announced;
}

}  // namespace heddle::p2p
