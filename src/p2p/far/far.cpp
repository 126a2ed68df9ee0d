// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstring>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>

#include "core/causality.hpp"
#include "mpi.h"
#include "objects/communicator.hpp"
#include "objects/errors.hpp"
#include "objects/process.hpp"
#include "p2p/any_tag.hpp"
#include "p2p/backlog.hpp"
#include "p2p/far/far.hpp"
#include "p2p/far/guest_listener.hpp"
#include "p2p/far/network.hpp"
#include "p2p/payload/large_copy.hpp"
#include "p2p/payload/payload.hpp"
#include "p2p/protocols/protocol.hpp"
#include "p2p/receiver.hpp"
#include "p2p/requests/awaited_peer.hpp"
#include "p2p/sender.hpp"
#include "p2p/unexpected.hpp"

namespace heddle::p2p {
/// Handles the events of the network. The lane is locked in every call.
class Far::FromNetwork final : public Network::Receiver {
public:
    explicit FromNetwork(Far& far) noexcept : far_(far) {}

    bool arrived(ProgressCall& call, std::int32_t process,
                 transport::Header& header) noexcept override {
        try {
            far_.deliver(call, process, header);
            return true;
        } catch (const std::bad_alloc&) {
            return false;  // nothing was changed; the message comes again
        }
    }
    void lost(std::int32_t process, std::string_view why) noexcept override {
        objects::Process& mine = *objects::attached_thread()->process;
        if (mine.numbers.is_guest(process)) return far_.base_.guest_listener->lost(process, why);
        objects::end_job(
            mine, 1,
            "lost rank " + std::to_string(mine.numbers.rank_of(process)) + ": " + std::string(why));
    }
    /// The launcher knows about ranks of this job.
    void left(std::int32_t process) noexcept override {
        objects::Process& mine = *objects::attached_thread()->process;
        if (mine.numbers.is_guest(process)) far_.base_.guest_listener->left(process);
    }
    bool withhold(instance::Pending& pending) noexcept override { return far_.withhold(pending); }
    void polled(ProgressCall& call) noexcept override {
        if (far_.told_of_pressure_.empty()) [[likely]]
            return;
        try {
            far_.tell_relief(call);
        } catch (const std::bad_alloc&) {
            // Tried again after one of the next polls.
        }
    }
    void streamed() noexcept override { far_.others_.announced.end(); }
    void has_read(ProgressCall& call, const Pull& pull, std::uint64_t bytes) noexcept override {
        call.thread.copying.single_copy_bytes.add(bytes);
        far_.others_.copies.finish_copy(call, pull);
    }
    void has_not_read(ProgressCall& call, const Pull& pull, std::uint64_t bytes) noexcept override {
        far_.others_.copies.fetch(call, pull, bytes);
    }

private:
    Far& far_;
};

void Far::use(Network& network) noexcept {
    network_.store(&network, release);  // R2: pairs with A2
}

bool Far::all_handed_over() const noexcept {
    return network() == nullptr || network()->all_handed_over();
}

void Far::ring_worker() noexcept {
    if (network() != nullptr) network()->ring();
}

bool Far::is_drained() {
    if (network() == nullptr) return true;
    network()->begin_to_close();
    return network()->is_drained();
}

// --- sending ---

void Far::send(ProgressCall& call, core::Request& send, const Outbound& message) {
    const auto address = reinterpret_cast<std::uint64_t>(&send);
    if (message.bytes > network()->most_payload() - sizeof(OfferedFields)) {
        others_.announced.begin(send);
        if (announce_readable(call, send, message)) return;
        const RendezvousFields fields{{address, 0}, unreadable, message.bytes};
        post(call, {message.envelope, message.process, nullptr, 0}, fields, nullptr);
    } else if (send.synchronous) {
        post(call, message, EagerSyncFields{{address, 0}}, nullptr);
    } else {
        post(call, message, {}, &send);
    }
}

void Far::post(ProgressCall& call, const Outbound& message, const Prefix& prefix,
               core::Request* completes) {
    hand_over(call, message.process, pending_of(message, prefix, completes, 0));
}

void Far::hand_over(ProgressCall& call, std::int32_t process, const instance::Pending& pending) {
    FromNetwork receiver(*this);
    network()->send(call, receiver, process, pending);
}

/// Answers an access by its data. The program has announced none of it.
void Far::answer_by_data(ProgressCall& call, std::int32_t process, const instance::Pending& data) {
    others_.announced.begin();  // streamed() takes it back
    try {
        hand_over(call, process, data);
    } catch (const std::bad_alloc&) {
        others_.announced.end();
        throw;
    }
}

/// Returns false if the payload has gaps, or if the network does not read.
bool Far::announce_readable(ProgressCall& call, core::Request& send, const Outbound& message) {
    if (send.laid_out) return false;
    FromNetwork receiver(*this);
    std::optional<transport::RemoteMemory> remote;
    try {
        remote = network()->expose(receiver, send, {message.data, message.bytes});
    } catch (const std::runtime_error&) {
        // The network has no room for more readable memory.
    }
    if (!remote) return false;
    const ReadableFields fields{reinterpret_cast<std::uint64_t>(&send), remote->key,
                                remote->address, message.bytes};
    try {
        post(call, {message.envelope, message.process, nullptr, 0}, fields, nullptr);
    } catch (const std::bad_alloc&) {
        network()->withdraw_exposure(send);
        throw;
    }
    return true;
}

bool Far::read(ProgressCall& call, const Pull& pull, std::uint64_t bytes) {
    if (pull.receive->laid_out || bytes == 0) return false;
    FromNetwork receiver(*this);
    return network()->read(call, receiver, pull, bytes);
}

/// Sends the payload that the receiver asks for.
void Far::stream(ProgressCall& call, const CtsFields& fields) {
    auto& send = *reinterpret_cast<core::Request*>(fields.sender);
    network()->end_exposure(send);
    const DataFields prefix{fields.receiver, fields.from};
    instance::Pending payload =
        pending_of({{}, send.peer, send.buffer, fields.length - fields.from, layout_of(send)},
                   prefix, &send, 0);
    payload.offset = fields.from;
    hand_over(call, send.peer, payload);
}

void Far::send_letter(ProgressCall& call, std::int32_t process, const LetterFields& letter) {
    if (base_.is_self(process)) return base_.guest_listener->letter(call, process, letter);
    others_.sender.control(call, 0, process, letter);
}

void Far::send_letter(core::Thread& thread, std::int32_t process, const LetterFields& letter) {
    ProgressCall call(thread);
    finish_after(call, [&] { send_letter(call, process, letter); });
}

// --- receiving ---

namespace {

/// Called by the thread that waits for the request. Completes the request if that process, of
/// another job, is gone and no other process completes it. The listener completes requests that a
/// handle names.
void look_after(core::Request& request, std::int32_t process, GuestListener& listener) noexcept {
    core::Thread& thread = *objects::attached_thread();
    listener.awaited(thread, process);
    if (!listener.is_gone(process) || request.kind.load(relaxed) == core::Kind::request ||
        request.completed() || !awaits_peer(request, process))
        return;
    ProgressCall call(thread);
    request.error = MPI_ERR_PROC_ABORTED;
    set_awaits_payload(request, false);
    call.complete(request);
}

}  // namespace

void Far::watch_sender_of(const core::Request& awaited) noexcept {
    auto& request = const_cast<core::Request&>(awaited);
    const bool is_send = request.operation == core::Operation::send;
    if (is_send && objects::attached_thread()->process->numbers.is_guest(request.peer))
        return look_after(request, request.peer, *base_.guest_listener);
    const objects::Communicator* communicator = request.communicator;
    if (request.operation != core::Operation::receive || communicator == nullptr) return;
    // A place of the library's own is no rank there. Then another process is watched than is meant,
    // if any.
    const auto watch_rank = [&](std::int32_t rank) {
        const std::int32_t process = objects::process_named_by(*communicator, rank);
        if (process < 0 || !base_.is_far(process)) return;
        watch(process);
        look_after(request, process, *base_.guest_listener);
    };
    const std::int32_t source = others_.receiver.pattern_of(request).source;
    if (source != match::any_source) return watch_rank(source);
    if ((communicator->context & objects::context_between_jobs) == 0) return;
    for (std::int32_t rank = 0; rank < communicator->peers; ++rank) watch_rank(rank);
}

void Far::watch(std::int32_t process) noexcept {
    FromNetwork receiver(*this);
    network()->watch(receiver, process);
}

bool Far::poll(core::Thread& thread) {
    if (network() == nullptr) return false;
    ProgressCall call(thread);
    bool moved = false;
    FromNetwork receiver(*this);
    finish_after(call, [&] { moved = network()->poll(call, receiver); });
    return moved;
}

bool Far::poll_surely(core::Thread& thread) {
    ProgressCall call(thread);
    FromNetwork receiver(*this);
    bool moved = false;
    finish_after(call, [&] { moved = network()->poll_surely(call, receiver); });
    if (network()->is_closing()) others_.endings.tell_all();
    return moved;
}

/// Delivers a message. Throws std::bad_alloc before anything has changed.
void Far::deliver(ProgressCall& call, std::int32_t process, transport::Header& header) {
    const auto kind = static_cast<MessageKind>(header.kind);
    if (is_control(kind))
        return protocol_of(kind).arrived(others_.parts, {call, process, header, nullptr});
    // Clocks of two hosts never meet. So messages have the order in which they come here.
    header.stamp = base_.stamps.numbered()();
    instance::Instance& home = base_.pool.home(header.context, header.tag);
    base_.classes.add(header.context, home.number());
    {
        instance::LockedInstance locked = base_.pool.lock(home, header.context, header.tag);
        if (others_.any_tag.has_home_elsewhere(header.context, locked)) [[unlikely]] {
            locked.unlock();
            others_.any_tag.leave_home(header.context);
            locked = instance::LockedInstance::lock(home);
        }
        const instance::InstanceLock held(locked);
        others_.receiver.deliver(call, held, process, header);
    }
    if (base_.is_under_pressure(base_.rank)) [[unlikely]]
        tell_pressure(call, process);
}

void Far::end(ProgressCall& call, core::Request& send) {
    network()->end_exposure(send);
    others_.sender.complete_announced(call, send);
}

void Far::end_cancelled(ProgressCall& call, core::Request& send) {
    network()->end_exposure(send);
    others_.sender.complete_cancelled(call, send);
}

// --- back-pressure ---

void Far::set_pressure(std::int32_t process, bool on) { network()->withhold(process, on); }

/// Withholds a message that is about to leave to a process that is short of memory. It is
/// withdrawn, or answered, as any synchronous one.
bool Far::withhold(instance::Pending& pending) noexcept {
    core::Request* const send = pending.completes;
    if (!others_.backlog.withhold(pending, false)) return false;
    if (send != nullptr) send->synchronous = true;
    return true;
}

/// Tells a process of the pressure, once. Its messages still come until it has read that, and are
/// kept. If there is no memory for telling, that is no fault of theirs.
void Far::tell_pressure(ProgressCall& call, std::int32_t process) try {
    if (std::find(told_of_pressure_.begin(), told_of_pressure_.end(), process) !=
        told_of_pressure_.end())
        return;
    others_.sender.control(call, 0, process, PressureFields{1});
    told_of_pressure_.push_back(process);
} catch (const std::bad_alloc&) {
    // The next message of that process tells it.
}

/// Throws std::bad_alloc. Processes that have been told are out of the list then.
void Far::tell_relief(ProgressCall& call) {
    if (base_.is_under_pressure(base_.rank)) return;
    for (; !told_of_pressure_.empty(); told_of_pressure_.pop_back())
        others_.sender.control(call, 0, told_of_pressure_.back(), PressureFields{0});
}

// --- cancelling ---

void Far::cancel(ProgressCall& call, core::Request& send) {
    if (network()->take_out(send.peer, send,
                            [&](const instance::Pending& waiting) { return is_of(waiting, send); }))
        return others_.sender.complete_cancelled(call, send);
    const bool is_offered = send.synchronous || send.announced;
    if (!is_offered || send.completed()) return;
    post(call, {{send.context, 0, send.tag}, send.peer, nullptr, 0},
         CancelFields{reinterpret_cast<std::uint64_t>(&send)}, nullptr);
}

void Far::answer_cancel(ProgressCall& call, std::int32_t process, const transport::Header& header) {
    const std::uint64_t sender = fields_of<CancelFields>(header).sender;
    const instance::InstanceLock held(
        base_.pool.lock(base_.pool.home(header.context, header.tag), header.context, header.tag));
    match::Message* found = nullptr;
    held->matcher.each_kept([&](match::Message& message) {
        if (may_be_taken_back(static_cast<MessageKind>(message.protocol)) &&
            message.peer == process && message.sender == sender)
            found = &message;
    });
    if (found == nullptr) return;
    others_.sender.control(call, found->instance, process, CancelledFields{sender});
    others_.unexpected.discard(held, *found);
}

}  // namespace heddle::p2p
