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

/// What a poll finds at the door of a process that has a network.
constexpr std::atomic<std::uint64_t> always{1};

}  // namespace

/// The engine, as the network hears it. The lane is locked in every call.
class Engine::FromNetwork final : public Network::Receiver {
public:
    explicit FromNetwork(Engine& engine) noexcept : engine_(engine) {}

    bool arrived(Turn& turn, std::int32_t process, transport::Header& header) noexcept override {
        try {
            engine_.deliver_far(turn, process, header);
            return true;
        } catch (const std::bad_alloc&) {
            return false;  // nothing was changed; it comes again
        }
    }
    void lost(std::int32_t process, std::string_view why) noexcept override {
        objects::Process& mine = *objects::attached_thread()->process;
        objects::end_job(
            mine, 1,
            "lost rank " + std::to_string(mine.numbers.rank_of(process)) + ": " + std::string(why));
    }
    bool withhold(instance::Pending& pending) noexcept override {
        return engine_.withhold_far(pending);
    }
    void polled(Turn& turn) noexcept override {
        if (engine_.told_of_pressure_.empty()) [[likely]]
            return;
        try {
            engine_.tell_relief(turn);
        } catch (const std::bad_alloc&) {
            // After one of the next polls, then.
        }
    }
    void streamed() noexcept override { engine_.announced_.end(); }
    void has_read(Turn& turn, const Pull& pull) noexcept override {
        engine_.copies_.settle(turn, pull);
    }

private:
    Engine& engine_;
};

void Engine::use_network(Network* network) noexcept {
    network_ = network;
    attention_ = network != nullptr ? &always : &node_.door(static_cast<std::size_t>(rank_)).rung;
}

bool Engine::network_is_handed_over() const noexcept { return network_->all_handed_over(); }

bool Engine::is_drained() {
    if (network_ == nullptr) return true;
    network_->begin_to_close();
    return network_->is_drained();
}

// --- sending ---

/// Throws std::bad_alloc, and has sent nothing then.
void Engine::send_far(Turn& turn, core::Request& send, const Outbound& message) {
    const auto address = reinterpret_cast<std::uint64_t>(&send);
    if (message.bytes > network_->most_payload() - sizeof(OfferedFields)) {
        announced_.begin(send);
        if (announce_readable(turn, send, message)) return;
        const RendezvousFields fields{{address, 0}, unreadable, message.bytes};
        post_far(turn, {message.envelope, message.process, nullptr, 0}, Kind::rendezvous, &fields,
                 sizeof fields, nullptr);
    } else if (send.synchronous) {
        const OfferedFields fields{address, 0};
        post_far(turn, message, Kind::eager_sync, &fields, sizeof fields, nullptr);
    } else {
        post_far(turn, message, Kind::eager, nullptr, 0, &send);
    }
}

/// Throws std::bad_alloc, and has sent nothing then.
void Engine::post_far(Turn& turn, const Outbound& message, Kind kind, const void* prefix,
                      std::uint32_t prefix_bytes, core::Request* completes) {
    hand_to_network(turn, message.process,
                    pending_of(message, kind, prefix, prefix_bytes, completes, 0));
}

/// Likewise.
void Engine::hand_to_network(Turn& turn, std::int32_t process, const instance::Pending& pending) {
    FromNetwork receiver(*this);
    network_->send(turn, receiver, process, pending);
}

/// Likewise. Answers an access by its data, of which the program has announced nothing.
void Engine::answer_by_data(Turn& turn, std::int32_t process, const instance::Pending& data) {
    announced_.begin();  // streamed() takes it back
    try {
        hand_to_network(turn, process, data);
    } catch (const std::bad_alloc&) {
        announced_.end();
        throw;
    }
}

/// False: the payload has gaps, or the network does not read.
bool Engine::announce_readable(Turn& turn, core::Request& send, const Outbound& message) {
    if (send.laid_out || !network_->can_read()) return false;
    transport::RemoteMemory remote{};
    try {
        remote = network_->expose(send, {message.data, message.bytes});
    } catch (const std::runtime_error&) {
        return false;  // a network that has no room for more memory to be read
    }
    const ReadableFields fields{reinterpret_cast<std::uint64_t>(&send), remote.key, remote.address,
                                message.bytes};
    try {
        post_far(turn, {message.envelope, message.process, nullptr, 0}, Kind::readable, &fields,
                 sizeof fields, nullptr);
    } catch (const std::bad_alloc&) {
        network_->withdraw_exposure(send);
        throw;
    }
    return true;
}

/// False: the payload is to be asked for.
bool Engine::read_far(Turn& turn, const Pull& pull, std::uint64_t bytes) {
    if (pull.receive->laid_out || bytes == 0) return false;
    FromNetwork receiver(*this);
    network_->read(turn, receiver, pull, bytes);
    return true;
}

/// The receiver asks for the payload.
void Engine::stream_far(Turn& turn, const CtsFields& fields) {
    auto& send = *reinterpret_cast<core::Request*>(fields.sender);
    network_->end_exposure(send);
    const DataFields prefix{fields.receiver, fields.from};
    instance::Pending payload =
        pending_of({{}, send.peer, send.buffer, fields.length - fields.from, layout_of(send)},
                   Kind::data, &prefix, sizeof prefix, &send, 0);
    payload.offset = fields.from;
    hand_to_network(turn, send.peer, payload);
}

// --- receiving ---

void Engine::watch_far_sender(const core::Request& request) noexcept {
    const objects::Communicator* communicator = request.communicator;
    if (request.operation != core::Operation::receive || communicator == nullptr) return;
    // A place of the library's own is no rank there: then another one is watched than is meant, if any.
    const std::int32_t source = pattern_of(request).source;
    if (source < 0 || source >= communicator->peers || communicator->processes == nullptr) return;
    const std::int32_t process = communicator->processes[source];
    if (!is_far(process)) return;
    FromNetwork receiver(*this);
    network_->watch(receiver, process);
}

bool Engine::poll_network(core::Thread& thread) {
    if (network_ == nullptr) return false;
    Turn turn(thread);
    bool moved = false;
    finish_after(turn, [&] { moved = poll_network(turn); });
    return moved;
}

bool Engine::poll_network(Turn& turn) {
    FromNetwork receiver(*this);
    return network_->poll(turn, receiver);
}

bool Engine::poll_network_surely(core::Thread& thread) {
    Turn turn(thread);
    FromNetwork receiver(*this);
    bool moved = false;
    finish_after(turn, [&] { moved = network_->poll_surely(turn, receiver); });
    if (network_->is_closing()) endings_.tell_all();
    return moved;
}

/// Throws std::bad_alloc before anything has changed.
void Engine::deliver_far(Turn& turn, std::int32_t process, transport::Header& header) {
    const auto kind = static_cast<Kind>(header.kind);
    if (is_control(kind)) return deliver_far_control(turn, process, header);
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
        deliver_unplaced(turn, instance, process, header);
    }
    if (is_under_pressure(rank_)) [[unlikely]]
        tell_pressure(turn, process);
}

void Engine::deliver_far_control(Turn& turn, std::int32_t process,
                                 const transport::Header& header) {
    const auto send = [&] {
        return reinterpret_cast<core::Request*>(fields_of<SenderField>(header).sender);
    };
    switch (static_cast<Kind>(header.kind)) {
        case Kind::ack: turn.complete(*send()); break;
        case Kind::fin:
            network_->end_exposure(*send());
            complete_announced(turn, *send());
            break;
        case Kind::pressure:
            network_->withhold(process, fields_of<PressureField>(header).pressure != 0);
            break;
        case Kind::cts: stream_far(turn, fields_of<CtsFields>(header)); break;
        case Kind::cancel: answer_cancel(turn, process, header); break;
        case Kind::cancelled:
            network_->end_exposure(*send());
            complete_cancelled(turn, *send());
            break;
        case Kind::access: deliver_access(turn, process, header); break;
        case Kind::refused: deliver_refusal(turn, header); break;
        default: receive_data(turn, header); break;
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
void Engine::tell_pressure(Turn& turn, std::int32_t process) try {
    if (std::find(told_of_pressure_.begin(), told_of_pressure_.end(), process) !=
        told_of_pressure_.end())
        return;
    const PressureField on{1};
    control(turn, 0, process, Kind::pressure, &on, sizeof on);
    told_of_pressure_.push_back(process);
} catch (const std::bad_alloc&) {
    // The next of its messages tells it.
}

/// Throws std::bad_alloc; those that have been told are out of the list then.
void Engine::tell_relief(Turn& turn) {
    if (is_under_pressure(rank_)) return;
    const PressureField off{0};
    for (; !told_of_pressure_.empty(); told_of_pressure_.pop_back())
        control(turn, 0, told_of_pressure_.back(), Kind::pressure, &off, sizeof off);
}

void Engine::complete_announced(Turn& turn, core::Request& send) noexcept {
    announced_.end();
    turn.complete(send);
}

// --- cancelling ---

/// Takes the message out of the queue, or asks its receiver for it. The answer, or the message's own, completes the send.
void Engine::cancel_far_send(Turn& turn, core::Request& send) {
    if (network_->take_out(send.peer, send,
                           [&](const instance::Pending& waiting) { return is_of(waiting, send); }))
        return complete_cancelled(turn, send);
    const bool is_offered = send.synchronous || send.announced;
    if (!is_offered || send.completed()) return;
    const SenderField field{reinterpret_cast<std::uint64_t>(&send)};
    post_far(turn, {{send.context, 0, send.tag}, send.peer, nullptr, 0}, Kind::cancel, &field,
             sizeof field, nullptr);
}

/// Gives the message back if no receive has it yet.
void Engine::answer_cancel(Turn& turn, std::int32_t process, const transport::Header& header) {
    const auto field = fields_of<SenderField>(header);
    const match::Envelope envelope{header.context, header.source, header.tag};
    instance::Instance& instance = pool_.home(header.context, header.tag);
    lock(instance, envelope);
    const std::lock_guard held(instance.lock, std::adopt_lock);
    match::Message* found = nullptr;
    instance.matcher.each_kept([&](match::Message& message) {
        const auto kind = static_cast<Kind>(message.protocol);
        const bool offered = is_offered(kind) || kind == Kind::readable;
        if (offered && message.peer == process && message.sender == field.sender) found = &message;
    });
    if (found == nullptr) return;
    control(turn, instance.number, process, Kind::cancelled, &field, sizeof field);
    discard(instance, *found);
}

}  // namespace heddle::p2p
