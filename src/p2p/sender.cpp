// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstring>
#include <new>

#include "core/causality.hpp"
#include "mpi.h"
#include "objects/communicator.hpp"
#include "p2p/buffered.hpp"
#include "p2p/far/far.hpp"
#include "p2p/laboratory/recipes.hpp"
#include "p2p/message_offers.hpp"
#include "p2p/node_worker.hpp"
#include "p2p/polling.hpp"
#include "p2p/receiver.hpp"
#include "p2p/sender.hpp"
#include "platform/sanitizers.hpp"
#include "tool/recipe.hpp"

namespace heddle::p2p {
namespace {

static_assert(tool::most_eager_bytes + sizeof(OfferedFields) <= node::most_payload);

constexpr match::Envelope no_envelope{0, 0, 0};

/// Returns whether there are fast paths. A program whose threads a race detector watches has none.
bool has_short_ways(const Base& base) noexcept {
    return base.features.fast_paths && !platform::races_are_sought() && !base.stamps.are_counted();
}

}  // namespace

Sender::Sender(Base& base, Backlog& backlog, AnnouncedSends& announced, PayloadRings& payload_rings,
               const Others& others)
    : base_(base),
      inline_below_(has_short_ways(base) ? node::inline_payload + 1 : 0),
      at_once_below_(has_short_ways(base) ? base.settings.eager_limit + 1 : 0),
      backlog_(backlog),
      announced_(announced),
      payload_rings_(payload_rings),
      others_(others),
      send_buffer_(
          base.settings.send_buffer == 0
              ? nullptr
              : std::make_shared<BsendBuffer>(MPI_BUFFER_AUTOMATIC, base.settings.send_buffer)) {}

Sender::~Sender() = default;

core::Request* Sender::start_slowly(core::Thread& thread, std::uint32_t context,
                                    std::int32_t source, std::int32_t tag, std::int32_t process,
                                    const std::byte* data, Shape shape, Sending how,
                                    objects::Communicator* communicator) {
    const Outbound message{{context, source, tag}, process, data,        shape.bytes,
                           shape.layout,           0,       communicator};
    const bool synchronous = how == Sending::synchronous;
    if (how == Sending::standard && send_buffer_ != nullptr) [[unlikely]]
        if (core::Request* sent = send_through_buffer(thread, message)) return sent;
    if (base_.is_far(process)) [[unlikely]] {
        core::causality::before_other_processes();
        return start_by(thread, base_.pool.home(context, tag), message, synchronous, 0);
    }
    if (shape.bytes >= payload_rings_.from() && process != base_.rank)
        if (core::Request* send = send_payload(thread, message, synchronous)) return send;
    if (!synchronous && shape.bytes < at_once_below_ && process != base_.rank &&
        post(thread, base_.pool.of(context, tag), message) == Post::done)
        return &base_.requests.completed_send();
    if (process != base_.rank) core::causality::before_other_processes();
    if (base_.laboratory != nullptr) return others_.recipes.send(thread, message, how);
    return start_by(thread, base_.pool.of(context, tag), message, synchronous, 0);
}

/// Copies a message that would wait for its receiver (P5, section 3.2). Returns nullptr, and has
/// sent nothing, if it has to wait after all.
core::Request* Sender::send_through_buffer(core::Thread& thread, const Outbound& message) {
    if (message.bytes <= base_.settings.eager_limit) return nullptr;
    try {
        if (send_buffer_->send(thread, message)) return &base_.requests.completed_send();
        // Messages may have left since this process looked.
        others_.polling.poll_all(thread);
        return send_buffer_->send(thread, message) ? &base_.requests.completed_send() : nullptr;
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}

bool Sender::buffer_is_empty() const { return send_buffer_ == nullptr || send_buffer_->is_empty(); }

core::Request* Sender::start_by(core::Thread& thread, instance::Instance& instance,
                                const Outbound& message, bool synchronous, std::uint64_t number) {
    core::Request* send = make(thread, instance, message, synchronous);
    if (send == nullptr) return nullptr;
    ProgressCall call(thread);
    try {
        start_protocol(call, instance, *send, message, number);
    } catch (const std::bad_alloc&) {
        let_go(thread, *send);
        finish(call);
        return nullptr;
    }
    finish(call);
    return send;
}

core::Request* Sender::make(core::Thread& thread, const instance::Instance& instance,
                            const Outbound& message, bool synchronous) noexcept {
    core::Request* send = base_.requests.take(thread);
    if (send == nullptr) return nullptr;
    send->operation = core::Operation::send;
    send->instance = instance.number();
    send->any_tag = false;
    send->clear_outcome();
    send->synchronous = synchronous;
    send->peer = message.process;
    send->context = message.envelope.context;
    send->tag = message.envelope.tag;
    send->buffer = const_cast<std::byte*>(message.data);  // it is only read
    send->capacity = message.bytes;
    send->bytes = 0;
    send->order = 0;
    send->announced = false;
    send->communicator = nullptr;
    send->extra = message.communicator == nullptr ? nullptr : message.communicator->session;
    keep_layout(*send, message.layout);
    return send;
}

/// Lets go of a send that has not left in any part.
void Sender::let_go(core::Thread& thread, core::Request& send) noexcept {
    if (send.announced) announced_.end();
    base_.requests.free(thread, send);
}

/// Starts a send. Throws std::bad_alloc, and has sent nothing then.
void Sender::start_protocol(ProgressCall& call, instance::Instance& instance, core::Request& send,
                            const Outbound& message, std::uint64_t number) {
    const auto address = reinterpret_cast<std::uint64_t>(&send);
    if (message.process == base_.rank) {
        core::causality::before(&send);
        others_.receiver.send_to_self(call.thread, send, message);
    } else if (base_.is_far(message.process)) {
        others_.far.send(call, send, message);
    } else if (message.bytes > base_.settings.eager_limit) {
        announced_.begin(send);
        const RendezvousFields fields{
            {address, 0},
            send.laid_out ? unreadable : reinterpret_cast<std::uint64_t>(message.data),
            message.bytes};
        Outbound announcement{message.envelope, message.process, nullptr, 0};
        announcement.announced = message.bytes;
        post_or_queue(instance, announcement, fields, nullptr, call, number);
        wake_workers(base_.mailboxes, base_.rank, message.process);
        others_.threads.note_large_message();
    } else if (send.synchronous) {
        const EagerSyncFields fields{{address, 0}};
        post_or_queue(instance, message, fields, nullptr, call, number);
    } else {
        post_or_queue(instance, message, {}, &send, call, number);
    }
}

void Sender::post_or_queue(instance::Instance& instance, const Outbound& message,
                           const Prefix& prefix, core::Request* completes, ProgressCall& call,
                           std::uint64_t number) {
    {
        const instance::OutboxHold held(instance, call.thread.token);
        const Stamps::Numbered stamp = base_.stamps.numbered(number);
        instance::Channel& channel = base_.pool.channel(held, message.process);
        const std::size_t cells = node::cells_for(prefix.bytes + message.bytes);
        const bool open = channel.state == instance::Channel::State::open;
        if (node::Cell* cell = open ? channel.ring.reserve(cells) : nullptr) {
            if (!is_control(prefix.kind)) count_sent(channel, message.bytes + message.announced);
            backlog_.hand_over(held, channel, *cell, cells, message, prefix, stamp());
            if (completes != nullptr) call.complete(*completes);
            return;
        }
        backlog_.queue(held, channel, pending_of(message, prefix, completes, stamp()));
        held->counters.ring_full.add();
        if (!is_control(prefix.kind)) count_sent(channel, message.bytes + message.announced);
        backlog_.flush_held(call, held);  // room may have come meanwhile
    }
    after_queueing();
}

void Sender::after_queueing() {
    // The receiver must be asked to notify when there is room. A thread that sleeps does that. But
    // this one may go away, and the leader may sleep unaware of the backlog.
    std::atomic_thread_fence(
        seq_cst);  // the leader says that it sleeps, passes a fence, then looks
    if (base_.lot.leader() == progress::Lot::Leader::asleep) base_.bell().ring();
}

void Sender::control(ProgressCall& call, std::uint8_t instance, std::int32_t process,
                     const Prefix& says) {
    const Outbound message{no_envelope, process, nullptr, 0};
    if (base_.is_far(process)) [[unlikely]]
        return others_.far.post(call, message, says, nullptr);
    post_or_queue(base_.pool[instance], message, says, nullptr, call);
    if (moves_large_payload(says.kind)) wake_workers(base_.mailboxes, base_.rank, process);
}

void Sender::open_channel(core::Thread& thread, instance::Instance& instance,
                          std::int32_t process) {
    const instance::OutboxHold held(instance, thread.token);
    base_.pool.channel(held, process);
}

void Sender::stream(ProgressCall& call, instance::Instance& instance, const CtsFields& fields) {
    auto& send = *reinterpret_cast<core::Request*>(fields.sender);
    const DataFields prefix{fields.receiver, fields.from};
    instance::Pending pending =
        pending_of({{}, send.peer, send.buffer, fields.length - fields.from, layout_of(send)},
                   prefix, &send, 0);
    pending.offset = fields.from;
    {
        const instance::OutboxHold held(instance, call.thread.token);
        if (send.streamed) backlog_.streams().drop(base_.pool.channel(held, send.peer), send);
        backlog_.queue(held, base_.pool.channel(held, send.peer), pending);
        backlog_.flush_held(call, held);
    }
    after_queueing();
}

void Sender::end(ProgressCall& call, instance::Instance& instance, core::Request& send) {
    if (send.streamed) {
        const instance::OutboxHold held(instance, call.thread.token);
        backlog_.streams().drop(base_.pool.channel(held, send.peer), send);
    }
    complete_announced(call, send);
}

void Sender::complete_announced(ProgressCall& call, core::Request& send) noexcept {
    announced_.end();
    call.complete(send);
}

// --- cancelling ---

void Sender::cancel(core::Thread& thread, core::Request& send) {
    if (send.completed()) return;
    ProgressCall call(thread);
    if (base_.is_self(send.peer)) {
        if (others_.receiver.take_from_self(send)) complete_cancelled(call, send);
    } else if (base_.is_far(send.peer)) {
        others_.far.cancel(call, send);
    } else {
        instance::Instance& instance = base_.pool[send.instance];
        // Held, so that meanwhile no message is handed over, and no slot goes on to another
        // message.
        const instance::OutboxHold held(instance, thread.token);
        instance::Channel& channel = held->channels[send.peer];
        if (!send.completed() &&
            (backlog_.take_out(held, channel, send) || others_.offers.take_back(send))) {
            if (send.streamed) backlog_.streams().drop(channel, send);
            complete_cancelled(call, send);
        }
        backlog_.flush_held(call, held);
    }
    finish(call);
}

void Sender::complete_cancelled(ProgressCall& call, core::Request& send) noexcept {
    if (send.announced) announced_.end();
    send.cancelled = true;
    call.complete(send);
}

}  // namespace heddle::p2p
