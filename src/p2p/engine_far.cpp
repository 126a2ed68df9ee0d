// SPDX-License-Identifier: BSD-3-Clause
/// Messages to and from processes of other nodes (p2p/network.hpp): the protocols are those of a node, without what needs
/// shared memory. Everything from one sender comes in order, so that nothing is ever deferred.

#include <algorithm>
#include <cstring>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>

#include "core/causality.hpp"
#include "objects/communicator.hpp"
#include "objects/errors.hpp"
#include "objects/process.hpp"
#include "p2p/engine.hpp"
#include "p2p/network.hpp"
#include "p2p/payload.hpp"

namespace heddle::p2p {
namespace {

/// What a poll finds in the mailbox of a process that has a network.
constexpr std::atomic<std::uint64_t> always{1};

}  // namespace

/// The engine, as the network hears it. The lane is locked in every call.
class Engine::FromNetwork final : public Network::Receiver {
public:
    explicit FromNetwork(Engine& engine) noexcept : engine_(engine) {}

    bool arrived(ProgressCall& call, std::int32_t process,
                 transport::Header& header) noexcept override {
        try {
            engine_.deliver_far(call, process, header);
            return true;
        } catch (const std::bad_alloc&) {
            return false;  // nothing was changed; it comes again
        }
    }
    void lost(std::int32_t process, std::string_view why) noexcept override {
        objects::Process& mine = *objects::attached_thread()->process;
        if (mine.numbers.is_guest(process)) return engine_.guest_listener_->lost(process, why);
        objects::end_job(
            mine, 1,
            "lost rank " + std::to_string(mine.numbers.rank_of(process)) + ": " + std::string(why));
    }
    /// Of ranks of this job the launcher knows.
    void left(std::int32_t process) noexcept override {
        objects::Process& mine = *objects::attached_thread()->process;
        if (mine.numbers.is_guest(process)) engine_.guest_listener_->left(process);
    }
    bool withhold(instance::Pending& pending) noexcept override {
        return engine_.withhold_far(pending);
    }
    void polled(ProgressCall& call) noexcept override {
        if (engine_.told_of_pressure_.empty()) [[likely]]
            return;
        try {
            engine_.tell_relief(call);
        } catch (const std::bad_alloc&) {
            // After one of the next polls, then.
        }
    }
    void streamed() noexcept override { engine_.announced_.end(); }
    void has_read(ProgressCall& call, const Pull& pull) noexcept override {
        engine_.copies_.settle(call, pull);
    }

private:
    Engine& engine_;
};

void Engine::use_network(Network& network) noexcept {
    network_.store(&network, release);  // R2: pairs with A2
    attention_.store(&always, relaxed);
}

bool Engine::network_is_handed_over() const noexcept { return network()->all_handed_over(); }

bool Engine::is_drained() {
    if (network() == nullptr) return true;
    network()->begin_to_close();
    return network()->is_drained();
}

// --- sending ---

/// Throws std::bad_alloc, and has sent nothing then.
void Engine::send_far(ProgressCall& call, core::Request& send, const Outbound& message) {
    const auto address = reinterpret_cast<std::uint64_t>(&send);
    if (message.bytes > network()->most_payload() - sizeof(OfferedFields)) {
        announced_.begin(send);
        if (announce_readable(call, send, message)) return;
        const RendezvousFields fields{{address, 0}, unreadable, message.bytes};
        post_far(call, {message.envelope, message.process, nullptr, 0}, MessageKind::rendezvous,
                 &fields, sizeof fields, nullptr);
    } else if (send.synchronous) {
        const OfferedFields fields{address, 0};
        post_far(call, message, MessageKind::eager_sync, &fields, sizeof fields, nullptr);
    } else {
        post_far(call, message, MessageKind::eager, nullptr, 0, &send);
    }
}

/// Throws std::bad_alloc, and has sent nothing then.
void Engine::post_far(ProgressCall& call, const Outbound& message, MessageKind kind,
                      const void* prefix, std::uint32_t prefix_bytes, core::Request* completes) {
    hand_to_network(call, message.process,
                    pending_of(message, kind, prefix, prefix_bytes, completes, 0));
}

/// Likewise.
void Engine::hand_to_network(ProgressCall& call, std::int32_t process,
                             const instance::Pending& pending) {
    FromNetwork receiver(*this);
    network()->send(call, receiver, process, pending);
}

/// Likewise. Answers an access by its data, of which the program has announced nothing.
void Engine::answer_by_data(ProgressCall& call, std::int32_t process,
                            const instance::Pending& data) {
    announced_.begin();  // streamed() takes it back
    try {
        hand_to_network(call, process, data);
    } catch (const std::bad_alloc&) {
        announced_.end();
        throw;
    }
}

/// False: the payload has gaps, or the network does not read.
bool Engine::announce_readable(ProgressCall& call, core::Request& send, const Outbound& message) {
    if (send.laid_out || !network()->can_read()) return false;
    transport::RemoteMemory remote{};
    try {
        remote = network()->expose(send, {message.data, message.bytes});
    } catch (const std::runtime_error&) {
        return false;  // a network that has no room for more memory to be read
    }
    const ReadableFields fields{reinterpret_cast<std::uint64_t>(&send), remote.key, remote.address,
                                message.bytes};
    try {
        post_far(call, {message.envelope, message.process, nullptr, 0}, MessageKind::readable,
                 &fields, sizeof fields, nullptr);
    } catch (const std::bad_alloc&) {
        network()->withdraw_exposure(send);
        throw;
    }
    return true;
}

/// False: the payload is to be asked for.
bool Engine::read_far(ProgressCall& call, const Pull& pull, std::uint64_t bytes) {
    if (pull.receive->laid_out || bytes == 0) return false;
    FromNetwork receiver(*this);
    network()->read(call, receiver, pull, bytes);
    return true;
}

/// The receiver asks for the payload.
void Engine::stream_far(ProgressCall& call, const CtsFields& fields) {
    auto& send = *reinterpret_cast<core::Request*>(fields.sender);
    network()->end_exposure(send);
    const DataFields prefix{fields.receiver, fields.from};
    instance::Pending payload =
        pending_of({{}, send.peer, send.buffer, fields.length - fields.from, layout_of(send)},
                   MessageKind::data, &prefix, sizeof prefix, &send, 0);
    payload.offset = fields.from;
    hand_to_network(call, send.peer, payload);
}

void Engine::send_letter(ProgressCall& call, std::int32_t process, const LetterFields& letter) {
    if (is_self(process)) return guest_listener_->letter(call, process, letter);
    control(call, 0, process, MessageKind::letter, &letter, sizeof letter);
}

void Engine::send_letter(core::Thread& thread, std::int32_t process, const LetterFields& letter) {
    ProgressCall call(thread);
    finish_after(call, [&] { send_letter(call, process, letter); });
}

// --- receiving ---

void Engine::watch_far_sender(const core::Request& request) noexcept {
    const objects::Communicator* communicator = request.communicator;
    if (request.operation != core::Operation::receive || communicator == nullptr) return;
    // A place of the library's own is no rank there: then another one is watched than is meant, if any.
    const auto watch_rank = [&](std::int32_t rank) {
        const std::int32_t process = objects::process_named_by(*communicator, rank);
        if (process < 0 || !is_far(process)) return;
        watch(process);
        guest_listener_->awaited(*objects::attached_thread(), process);
    };
    const std::int32_t source = pattern_of(request).source;
    if (source != match::any_source) return watch_rank(source);
    if ((communicator->context & objects::context_between_jobs) == 0) return;
    for (std::int32_t rank = 0; rank < communicator->peers; ++rank) watch_rank(rank);
}

void Engine::watch(std::int32_t process) noexcept {
    FromNetwork receiver(*this);
    network()->watch(receiver, process);
}

bool Engine::poll_network(core::Thread& thread) {
    if (network() == nullptr) return false;
    ProgressCall call(thread);
    bool moved = false;
    finish_after(call, [&] { moved = poll_network(call); });
    return moved;
}

bool Engine::poll_network(ProgressCall& call) {
    FromNetwork receiver(*this);
    return network()->poll(call, receiver);
}

bool Engine::poll_network_surely(core::Thread& thread) {
    ProgressCall call(thread);
    FromNetwork receiver(*this);
    bool moved = false;
    finish_after(call, [&] { moved = network()->poll_surely(call, receiver); });
    if (network()->is_closing()) endings_.tell_all();
    return moved;
}

/// Throws std::bad_alloc before anything has changed.
void Engine::deliver_far(ProgressCall& call, std::int32_t process, transport::Header& header) {
    const auto kind = static_cast<MessageKind>(header.kind);
    if (is_control(kind)) return deliver_far_control(call, process, header);
    // Clocks of two hosts never meet: messages have the order in which they come here.
    header.stamp = numbered()();
    const match::Envelope envelope{header.context, header.source, header.tag};
    instance::Instance& instance = pool_.home(header.context, header.tag);
    classes_.add(header.context, instance.number);
    {
        lock(instance, envelope);
        std::unique_lock held(instance.lock, std::adopt_lock);
        if (has_home_elsewhere(header.context, instance)) [[unlikely]] {
            held.unlock();
            leave_home(header.context);
            held.lock();
        }
        deliver_unplaced(call, instance, process, header);
    }
    if (is_under_pressure(rank_)) [[unlikely]]
        tell_pressure(call, process);
}

void Engine::deliver_far_control(ProgressCall& call, std::int32_t process,
                                 const transport::Header& header) {
    const auto send = [&] {
        return reinterpret_cast<core::Request*>(fields_of<SenderField>(header).sender);
    };
    switch (static_cast<MessageKind>(header.kind)) {
        case MessageKind::ack: call.complete(*send()); break;
        case MessageKind::fin:
            network()->end_exposure(*send());
            complete_announced(call, *send());
            break;
        case MessageKind::pressure:
            network()->withhold(process, fields_of<PressureField>(header).pressure != 0);
            break;
        case MessageKind::cts: stream_far(call, fields_of<CtsFields>(header)); break;
        case MessageKind::cancel: answer_cancel(call, process, header); break;
        case MessageKind::cancelled:
            network()->end_exposure(*send());
            complete_cancelled(call, *send());
            break;
        case MessageKind::access: deliver_access(call, process, header); break;
        case MessageKind::refused: deliver_refusal(call, header); break;
        case MessageKind::letter:
            guest_listener_->letter(call, process, fields_of<LetterFields>(header));
            break;
        default: receive_data(call, header); break;
    }
}

// --- back-pressure ---

/// A message of this process is about to leave, to one that is short of memory. It is withdrawn, or answered, as any
/// that is synchronous.
bool Engine::withhold_far(instance::Pending& pending) noexcept {
    core::Request* const send = pending.completes;
    if (!backlog_.withhold(pending, false)) return false;
    if (send != nullptr) send->synchronous = true;
    return true;
}

/// Once for each process. Its messages until it hears of it come nevertheless, and are kept: no memory for telling is
/// no fault of theirs.
void Engine::tell_pressure(ProgressCall& call, std::int32_t process) try {
    if (std::find(told_of_pressure_.begin(), told_of_pressure_.end(), process) !=
        told_of_pressure_.end())
        return;
    const PressureField on{1};
    control(call, 0, process, MessageKind::pressure, &on, sizeof on);
    told_of_pressure_.push_back(process);
} catch (const std::bad_alloc&) {
    // The next of its messages tells it.
}

/// Throws std::bad_alloc; those that have been told are out of the list then.
void Engine::tell_relief(ProgressCall& call) {
    if (is_under_pressure(rank_)) return;
    const PressureField off{0};
    for (; !told_of_pressure_.empty(); told_of_pressure_.pop_back())
        control(call, 0, told_of_pressure_.back(), MessageKind::pressure, &off, sizeof off);
}

void Engine::complete_announced(ProgressCall& call, core::Request& send) noexcept {
    announced_.end();
    call.complete(send);
}

// --- cancelling ---

/// Takes the message out of the queue, or asks its receiver for it. The answer, or the message's own, completes the send.
void Engine::cancel_far_send(ProgressCall& call, core::Request& send) {
    if (network()->take_out(send.peer, send,
                            [&](const instance::Pending& waiting) { return is_of(waiting, send); }))
        return complete_cancelled(call, send);
    const bool is_offered = send.synchronous || send.announced;
    if (!is_offered || send.completed()) return;
    const SenderField field{reinterpret_cast<std::uint64_t>(&send)};
    post_far(call, {{send.context, 0, send.tag}, send.peer, nullptr, 0}, MessageKind::cancel,
             &field, sizeof field, nullptr);
}

/// Gives the message back if no receive has it yet.
void Engine::answer_cancel(ProgressCall& call, std::int32_t process,
                           const transport::Header& header) {
    const auto field = fields_of<SenderField>(header);
    const match::Envelope envelope{header.context, header.source, header.tag};
    instance::Instance& instance = pool_.home(header.context, header.tag);
    lock(instance, envelope);
    const std::lock_guard held(instance.lock, std::adopt_lock);
    match::Message* found = nullptr;
    instance.matcher.each_kept([&](match::Message& message) {
        const auto kind = static_cast<MessageKind>(message.protocol);
        const bool offered = is_offered(kind) || kind == MessageKind::readable;
        if (offered && message.peer == process && message.sender == field.sender) found = &message;
    });
    if (found == nullptr) return;
    control(call, instance.number, process, MessageKind::cancelled, &field, sizeof field);
    discard(instance, *found);
}

}  // namespace heddle::p2p
