// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstring>
#include <new>

#include "core/causality.hpp"
#include "objects/communicator.hpp"
#include "p2p/all_instances_lock.hpp"
#include "p2p/buffered.hpp"
#include "p2p/node_worker.hpp"

namespace heddle::p2p {
namespace {

static_assert(tool::most_eager_bytes + sizeof(OfferedFields) <= transport::shm::most_payload);

constexpr match::Envelope no_envelope{0, 0, 0};

}  // namespace

void Engine::notify(std::int32_t process, const instance::Instance& instance) noexcept {
    node_.notify(static_cast<std::size_t>(rank_), static_cast<std::size_t>(process),
                 instance.number);
}

core::Request* Engine::start_send_slowly(core::Thread& thread, std::uint32_t context,
                                         std::int32_t source, std::int32_t tag,
                                         std::int32_t process, const std::byte* data, Shape shape,
                                         Sending how, objects::Communicator* communicator) {
    const Outbound message{{context, source, tag}, process, data,        shape.bytes,
                           shape.layout,           0,       communicator};
    const bool synchronous = how == Sending::synchronous;
    if (how == Sending::standard && send_buffer_ != nullptr) [[unlikely]]
        if (core::Request* sent = send_through_buffer(thread, message)) return sent;
    if (is_far(process)) [[unlikely]] {
        core::causality::before_other_processes();
        return start_send_by(thread, pool_.home(context, tag), message, synchronous, 0);
    }
    if (shape.bytes >= payload_rings_.from() && process != rank_)
        if (core::Request* send = send_payload(thread, message, synchronous)) return send;
    if (!synchronous && shape.bytes < at_once_below_ && process != rank_ &&
        post(thread, pool_.of(context, tag), message, MessageKind::eager, nullptr, 0) == Post::done)
        return &completed_send_;
    if (process != rank_) core::causality::before_other_processes();
    if (in_laboratory()) return send_in_laboratory(thread, message, how);
    return start_send_by(thread, pool_.of(context, tag), message, synchronous, 0);
}

/// Copies what would wait for its receiver (P5, section 3.2); nullptr, with nothing sent: it has to wait after all.
core::Request* Engine::send_through_buffer(core::Thread& thread, const Outbound& message) {
    if (message.bytes <= settings_.eager_limit) return nullptr;
    try {
        if (send_buffer_->send(thread, message)) return &completed_send_;
        poll_all(thread);  // messages may have left without this process having looked
        return send_buffer_->send(thread, message) ? &completed_send_ : nullptr;
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}

bool Engine::send_buffer_is_empty() const {
    return send_buffer_ == nullptr || send_buffer_->is_empty();
}

/// Starts a send through this instance.
core::Request* Engine::start_send_by(core::Thread& thread, instance::Instance& instance,
                                     const Outbound& message, bool synchronous,
                                     std::uint64_t number) {
    core::Request* send = new_send(thread, instance, message, synchronous);
    if (send == nullptr) return nullptr;
    ProgressCall call(thread);
    try {
        start_protocol(call, instance, *send, message, number);
    } catch (const std::bad_alloc&) {
        let_go_of_send(thread, *send);
        finish(call);
        return nullptr;
    }
    finish(call);
    return send;
}

core::Request* Engine::new_send(core::Thread& thread, const instance::Instance& instance,
                                const Outbound& message, bool synchronous) noexcept {
    core::Request* send = take_request(thread);
    if (send == nullptr) return nullptr;
    send->operation = core::Operation::send;
    send->instance = instance.number;
    send->any_tag = false;
    send->clear_outcome();
    send->synchronous = synchronous;
    send->peer = message.process;
    send->context = message.envelope.context;
    send->tag = message.envelope.tag;
    send->buffer = const_cast<std::byte*>(message.data);  // only read
    send->capacity = message.bytes;
    send->bytes = 0;
    send->order = 0;
    send->announced = false;
    send->communicator = nullptr;
    send->extra = message.communicator == nullptr ? nullptr : message.communicator->session;
    keep_layout(*send, message.layout);
    return send;
}

/// Nothing of the send has left.
void Engine::let_go_of_send(core::Thread& thread, core::Request& send) noexcept {
    if (send.announced) announced_.end();
    free_request(thread, send);
}

/// Throws std::bad_alloc, and has sent nothing then.
void Engine::start_protocol(ProgressCall& call, instance::Instance& instance, core::Request& send,
                            const Outbound& message, std::uint64_t number) {
    const auto address = reinterpret_cast<std::uint64_t>(&send);
    if (message.process == rank_) {
        core::causality::before(&send);
        send_to_self(call.thread, send, message);
    } else if (is_far(message.process)) {
        send_far(call, send, message);
    } else if (message.bytes > settings_.eager_limit) {
        announced_.begin(send);
        const RendezvousFields fields{
            {address, 0},
            send.laid_out ? unreadable : reinterpret_cast<std::uint64_t>(message.data),
            message.bytes};
        post_or_queue(instance, {message.envelope, message.process, nullptr, 0},
                      MessageKind::rendezvous, &fields, sizeof fields, nullptr, call, number);
        wake_workers(node_, rank_, message.process);
        note_large_message();
    } else if (send.synchronous) {
        const OfferedFields fields{address, 0};
        post_or_queue(instance, message, MessageKind::eager_sync, &fields, sizeof fields, nullptr,
                      call, number);
    } else {
        post_or_queue(instance, message, MessageKind::eager, nullptr, 0, &send, call, number);
    }
}

void Engine::post_or_queue(instance::Instance& instance, const Outbound& message, MessageKind kind,
                           const void* prefix, std::uint32_t prefix_bytes, core::Request* completes,
                           ProgressCall& call, std::uint64_t number) {
    {
        const sync::BiasedHold held(instance.outbox, call.thread.token);
        const Numbered stamp = numbered(number);
        instance::Channel& channel = pool_.channel(instance, message.process);
        const std::size_t cells = transport::shm::cells_for(prefix_bytes + message.bytes);
        const bool open = channel.state == instance::Channel::State::open;
        if (transport::shm::Cell* cell = open ? channel.ring.reserve(cells) : nullptr) {
            if (!is_control(kind)) count_sent(channel, kind, message.bytes, prefix);
            backlog_.hand_over(instance, channel, *cell, cells, message, kind, prefix, prefix_bytes,
                               stamp());
            if (completes != nullptr) call.complete(*completes);
            return;
        }
        backlog_.queue(instance, channel,
                       pending_of(message, kind, prefix, prefix_bytes, completes, stamp()));
        instance.backlog_counters.ring_full.add();
        if (!is_control(kind)) count_sent(channel, kind, message.bytes, prefix);
        backlog_.flush_held(call, instance);  // room may have come meanwhile
    }
    after_queueing();
}

void Engine::after_queueing() {
    // The receiver must be asked to tell when there is room: a thread that parks does that, but this one
    // may go away, and the leader may sleep without knowing.
    std::atomic_thread_fence(
        seq_cst);  // the leader says that it sleeps, passes a fence, then looks
    if (lot_.leader() == progress::Lot::Leader::asleep) bell().ring();
}

void Engine::control(ProgressCall& call, std::uint8_t instance, std::int32_t process,
                     MessageKind kind, const void* fields, std::uint32_t bytes) {
    if (is_far(process)) [[unlikely]]
        return post_far(call, {no_envelope, process, nullptr, 0}, kind, fields, bytes, nullptr);
    post_or_queue(pool_[instance], {no_envelope, process, nullptr, 0}, kind, fields, bytes, nullptr,
                  call);
    if (moves_large_payload(kind)) wake_workers(node_, rank_, process);
}

void Engine::open_channel(core::Thread& thread, instance::Instance& instance,
                          std::int32_t process) {
    const sync::BiasedHold held(instance.outbox, thread.token);
    pool_.channel(instance, process);
}

/// Starts to send the payload that the receiver asked for.
void Engine::stream(ProgressCall& call, instance::Instance& instance, const CtsFields& fields) {
    auto& send = *reinterpret_cast<core::Request*>(fields.sender);
    const DataFields prefix{fields.receiver, fields.from};
    instance::Pending pending =
        pending_of({{}, send.peer, send.buffer, fields.length - fields.from, layout_of(send)},
                   MessageKind::data, &prefix, sizeof prefix, &send, 0);
    pending.offset = fields.from;
    {
        const sync::BiasedHold held(instance.outbox, call.thread.token);
        if (send.streamed) backlog_.streams().drop(pool_.channel(instance, send.peer), send);
        backlog_.queue(instance, pool_.channel(instance, send.peer), pending);
        backlog_.flush_held(call, instance);
    }
    after_queueing();
}

void Engine::send_to_self(core::Thread& thread, core::Request& send, const Outbound& message) {
    const std::uint32_t context = message.envelope.context;
    instance::Instance& instance = pool_.home(context, message.envelope.tag);
    classes_.add(context, instance.number);
    ProgressCall call(thread);
    lock(instance, message.envelope);
    const bool awaits = awaits_order(instance, context) && !is_sequenced();
    if (awaits) [[unlikely]] {
        instance.lock.unlock();
        const AllInstancesLock all(*this);
        all.include(instance);
        drain_in_order(call, all);
        deliver_to_self(call, instance, send, message);
    } else {
        const std::lock_guard held(instance.lock, std::adopt_lock);
        deliver_to_self(call, instance, send, message);
    }
    finish(call);
}

/// Instance locked. A receive that waits gets the payload once the lock is free (ProgressCall::pulls).
void Engine::deliver_to_self(ProgressCall& call, instance::Instance& instance, core::Request& send,
                             const Outbound& message) {
    make_room(call.pulls);
    match::Message& local = new_message(call.thread, instance.number, rank_, message.envelope);
    local.stamp = numbered()();
    local.protocol = static_cast<std::uint8_t>(MessageKind::local);
    local.length = message.bytes;
    local.far = {reinterpret_cast<std::uint64_t>(message.data), 0, false};
    local.sender = reinterpret_cast<std::uint64_t>(&send);
    instance.receiving.self_messages.add();
    instance.receiving.self_bytes.add(message.bytes);
    match::note_posted(instance.matcher.counters());
    if (core::Request* receive = match(instance, message.envelope)) {
        note_causality(*receive, local);
        consume(call, *receive, local);
        return;
    }
    const bool stays = message.bytes != 0 && is_under_pressure(rank_);  // as in Backlog::withhold()
    if (!send.synchronous && message.bytes <= settings_.eager_limit && !stays) {
        local.protocol = static_cast<std::uint8_t>(MessageKind::eager);
        keep_payload(call.thread, local, message.data, {message.bytes, message.layout});
        call.complete(send);
    }
    keep(call, instance, local);
}

}  // namespace heddle::p2p
