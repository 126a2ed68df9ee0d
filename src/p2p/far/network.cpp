// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/far/network.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <new>
#include <stdexcept>
#include <utility>

#include "p2p/payload/payload.hpp"
#include "p2p/protocol.hpp"
#include "platform/cpu.hpp"

namespace heddle::p2p {
namespace {

/// Large payloads are read in pieces: a kernel sends several faster than one of the same length.
/// Not all are read at once, so that other messages come between them.
constexpr std::uint64_t piece = std::uint64_t{128} << 10;
constexpr std::uint32_t most_pieces = 16;

/// Least payload that the lane to guests takes, whenever it comes.
constexpr std::size_t most_payload_to_guests = std::size_t{32} << 10;

constexpr std::size_t most_pending = std::size_t{1} << 24;

/// Ticks of a poll that has moved a part of a payload. The network of a job does not report parts.
/// A poll of so many ticks (4 to 8 us at some gigahertz) has moved some. A waiting thread then goes
/// on spinning.
constexpr std::uint64_t longer_than_nothing = 16384;

/// Returns whether the message may be cut. Its prefix then says where its first byte was before:
/// DataFields, or fields that begin like them.
bool may_be_cut(const instance::Pending& pending) noexcept {
    return is_data(pending) ||
        pending.kind == static_cast<std::uint8_t>(AccessFields::message_kind);
}
/// Returns whether a thread waits for the message. Accesses gather, except those with an awaited
/// answer.
bool is_urgent(const instance::Pending& pending) noexcept {
    const auto kind = static_cast<MessageKind>(pending.kind);
    return is_control(kind) &&
        (kind != AccessFields::message_kind || pending.envelope.tag == awaited_access);
}

}  // namespace

/// Passes the events of a lane to the receiver.
struct Network::Adapter final : transport::Arrivals {
    Adapter(Network& network, HeldLane lane, ProgressCall& call, Receiver& receiver) noexcept
        : network(network), lane(lane), call(call), receiver(receiver) {}

    bool arrived(transport::Peer peer, transport::Header& header) noexcept override {
        const bool taken = receiver.arrived(call, process(peer), header);
        if (taken) {
            network.count_taken(process(peer));
            network.counters_.network_received_messages.add();
            network.counters_.network_received_bytes.add(header.length);
        }
        return taken;
    }
    void read_over(std::uint64_t token, bool fine) noexcept override {
        network.end_piece(lane, call, receiver, *reinterpret_cast<Reading*>(token), fine);
    }
    void lost(transport::Peer peer, std::string_view why) noexcept override {
        end_exposures(lane, process(peer));
        if (!network.is_closing()) receiver.lost(process(peer), why);
    }
    void left(transport::Peer peer) noexcept override {
        end_exposures(lane, process(peer));
        if (!network.is_closing()) receiver.left(process(peer));
    }
    void stranger() noexcept override { network.counters_.network_strangers.add(); }

private:
    std::int32_t process(transport::Peer peer) const noexcept {
        return network.numbers_.number_of(static_cast<std::int32_t>(peer));
    }

    Network& network;
    const HeldLane lane;
    ProgressCall& call;
    Receiver& receiver;
};

Network::Network(const launch::Numbering& numbers, std::unique_ptr<transport::AnyLane> lane,
                 Addresses addresses, node::Traffic* traffic)
    : numbers_(numbers),
      addresses_(std::move(addresses)),
      traffic_(traffic),
      most_payload_(lane != nullptr ? std::min(lane->most_payload(), most_payload_to_guests)
                                    : most_payload_to_guests),
      pending_(most_pending),
      guarded_{.lanes{static_cast<transport::Peer>(numbers.size()), std::move(lane)},
               .packed = std::vector<std::byte>(most_payload_)},
      queue_of_(static_cast<std::size_t>(numbers.size() - numbers.here()) +
                transport::Guests::most) {
    if (traffic_ != nullptr) traffic_->is_counted.store(1, relaxed);
}

Network::~Network() {
    while (guarded_.to_read != nullptr)
        delete std::exchange(guarded_.to_read,
                             guarded_.to_read->next);  // of a job that comes to nothing
}

void Network::add_guests(std::unique_ptr<transport::AnyLane> lane,
                         const transport::Guests& guests) {
    assert(lane->most_payload() >= most_payload_);
    {
        const LaneLock held(*this);
        held->lanes.add_guests(std::move(lane));
        guests_.store(&guests, release);  // R4: pairs with A4
    }
    alarm_.ring();  // a sleeping worker does not look there
}

void Network::forget_guests(transport::Guests& guests,
                            const std::function<bool(std::int32_t process)>& may_go) {
    const LaneLock lane(*this);
    gather_sent(lane);
    guests.forget([&](transport::Peer guest) {
        const std::int32_t process = numbers_.size() + static_cast<std::int32_t>(guest);
        Queue* const queue = find_queue(process);
        if (queue != nullptr && !queue->waiting.empty()) return false;
        if (!may_go(process) || !lane->lanes.forget(static_cast<transport::Peer>(process)))
            return false;
        if (queue != nullptr) queue->withholds = false;
        return true;
    });
}

/// Counts for the launcher, with the lock that guards the count held.
void Network::count_taken(std::int32_t from) noexcept {
    if (counts(from)) adjust(traffic_->taken, 1);
}

// --- sending ---

Network::Queue& Network::queue_of(std::int32_t process) {
    Queue* const queue = find_queue(process);
    return queue != nullptr ? *queue : make_queue(process);
}

Network::Queue& Network::make_queue(std::int32_t process) {
    const std::lock_guard guard(queues_lock_);
    std::atomic<Queue*>& known = queue_of_.need(place_of(process));
    if (known.load(relaxed) == nullptr)
        known.store(
            &queues_.emplace_back(process, static_cast<transport::Peer>(numbers_.rank_of(process))),
            release);  // R3: pairs with A3
    return *known.load(relaxed);
}

void Network::send(ProgressCall& call, Receiver& receiver, std::int32_t process,
                   const instance::Pending& message) {
    Queue& queue = queue_of(process);
    if (const std::optional<HeldLane> free_lane = try_lock()) {
        const LaneLock lane(*free_lane);
        gather_sent(lane);  // this thread may have sent a message before while the lane was locked
        append(lane, queue, message);
        (void)hand_over(lane, call, receiver);
        tell_worker_what_is_owed(lane);
    } else {
        leave_in_queue(queue, message);
    }
    hand_over(call, receiver);
}

/// Appends a message. Throws std::bad_alloc, and has done nothing then.
void Network::append(HeldLane lane, Queue& queue, const instance::Pending& message) {
    instance::Pending* const pending = lane->free.take(pending_);
    if (pending == nullptr) throw std::bad_alloc();
    *pending = message;
    if (counts(queue.process)) adjust(traffic_->sent[group_of(queue)], 1);
    waiting_.store(waiting_.load(relaxed) + 1, relaxed);
    queue.waiting.append(*pending);
    activate(lane, queue);
}

/// Leaves a message for the thread that has the lane. Throws as append() does.
void Network::leave_in_queue(Queue& queue, const instance::Pending& message) {
    const std::lock_guard guard(queues_lock_);
    instance::Pending* const pending = free_for_fresh_.take(pending_);
    if (pending == nullptr) throw std::bad_alloc();
    *pending = message;
    if (counts(queue.process)) adjust(traffic_->sent_in_queue[group_of(queue)], 1);
    if (queue.sent.empty()) queue.next_fresh = std::exchange(fresh_, &queue);
    queue.sent.append(*pending);
    ++fresh_count_;
    any_fresh_.store(true, relaxed);
}

void Network::activate(HeldLane lane, Queue& queue) noexcept {
    if (!std::exchange(queue.active, true)) queue.next_active = std::exchange(lane->active, &queue);
}

/// Hands over messages, unless another thread does. A thread that has had the lane comes here after
/// unlocking it. Either its look below finds messages sent meanwhile, or their sender finds the
/// lane free.
void Network::hand_over(ProgressCall& call, Receiver& receiver) noexcept {
    for (;;) {
        std::atomic_thread_fence(
            seq_cst);  // between the sends, or the unlocking, and the looks below
        if (!any_fresh_.load(relaxed)) return;
        const std::optional<HeldLane> free_lane = try_lock();
        if (!free_lane) return;
        {
            const LaneLock lane(*free_lane);
            (void)hand_over(lane, call, receiver);
            tell_worker_what_is_owed(lane);
        }
    }
}

/// Hands over messages with the lane held. Returns true if there were any.
bool Network::hand_over(HeldLane lane, ProgressCall& call, Receiver& receiver) noexcept {
    bool moved = false;
    gather_sent(lane);
    for (Queue** at = &lane->active; *at != nullptr;) {
        Queue& queue = **at;
        while (!queue.waiting.empty() && post_front(lane, receiver, queue)) moved = true;
        if (queue.waiting.empty()) {
            queue.active = false;
            *at = queue.next_active;
        } else {
            at = &queue.next_active;
        }
    }
    if (ask_for_pieces(lane, call, receiver)) moved = true;
    if (std::exchange(lane->urgent, false)) lane->lanes.flush();
    if (!lane->lanes.owes()) complete_gathered(lane, call, receiver);
    return moved;
}

void Network::gather_sent(HeldLane lane) noexcept {
    if (!any_fresh_.load(relaxed)) return;
    const std::lock_guard guard(queues_lock_);
    waiting_.store(waiting_.load(relaxed) + std::exchange(fresh_count_, 0), relaxed);
    // R1: pairs with A1; a thread that reads this reads that count, too.
    any_fresh_.store(false, release);
    while (fresh_ != nullptr) {
        Queue& queue = *std::exchange(fresh_, fresh_->next_fresh);
        queue.waiting.append(std::exchange(queue.sent, {}));
        activate(lane, queue);
    }
}

/// Posts the first message that waits, or a piece of it. Returns false if there is no room.
bool Network::post_front(HeldLane lane, Receiver& receiver, Queue& queue) noexcept {
    instance::Pending& pending = queue.waiting.front();
    if (queue.withholds && receiver.withhold(pending)) [[unlikely]]
        counters_.network_withheld.add();
    const std::uint64_t bytes = may_be_cut(pending)
        ? std::min<std::uint64_t>(pending.bytes, lane->packed.size() - pending.prefix_bytes)
        : pending.bytes;
    if (!connect(lane, receiver, queue.process)) return false;
    switch (post(lane, queue, pending, bytes)) {
        case transport::Post::retry: return false;
        case transport::Post::faulty: break;  // the lane reports it
        case transport::Post::done:
            counters_.network_sent_messages.add();
            counters_.network_sent_bytes.add(bytes);
            break;
    }
    if (is_urgent(pending)) lane->urgent = true;
    if (bytes == pending.bytes) {
        lane->gathered.append(queue.waiting.take_front());
        return true;
    }
    if (counts(queue.process)) adjust(traffic_->sent[group_of(queue)], 1);
    pass_piece(pending, bytes);
    return true;
}

transport::Post Network::post(HeldLane lane, Queue& queue, const instance::Pending& pending,
                              std::uint64_t bytes) noexcept {
    transport::Header header{};
    header.context = pending.envelope.context;
    header.tag = pending.envelope.tag;
    header.source = pending.envelope.source;
    header.kind = pending.kind;
    const std::byte* data = pending.data + pending.offset;
    if (pending.layout != nullptr) {
        gather(lane->packed.data(), pending.data, pending.layout, pending.offset, bytes);
        data = lane->packed.data();
    }
    return lane->lanes.post(queue.peer, header, {pending.prefix, pending.prefix_bytes},
                            {data, bytes});
}

void Network::withhold(std::int32_t process, bool on) { queue_of(process).withholds = on; }

/// Connects to a process. Returns false if it cannot be reached.
bool Network::connect(HeldLane lane, Receiver& receiver, std::int32_t process) noexcept try {
    const std::int32_t rank = numbers_.rank_of(process);
    const auto peer = static_cast<transport::Peer>(rank);
    if (lane->lanes.knows(peer)) [[likely]]
        return true;
    lane->lanes.connect(peer, address_of(rank));
    lane->lanes.watch(peer, true);
    return true;
} catch (const std::exception& problem) {
    receiver.lost(process, problem.what());
    return false;
}

std::string Network::address_of(std::int32_t rank) const {
    if (!numbers_.is_guest(rank)) return addresses_(rank);
    return guests_
        .load(acquire)  // A4
        ->card(static_cast<transport::Peer>(rank - numbers_.size()))
        .address;
}

void Network::watch(Receiver& receiver, std::int32_t process) noexcept {
    const LaneLock lane(*this);
    (void)connect(lane, receiver, process);
}

// --- reading ---

std::optional<transport::RemoteMemory> Network::expose(Receiver& receiver,
                                                       const core::Request& send,
                                                       transport::Bytes payload) {
    const LaneLock lane(*this);
    if (!can_read(lane, receiver, send.peer)) return std::nullopt;
    auto exposed =
        lane->lanes.expose(static_cast<transport::Peer>(numbers_.rank_of(send.peer)), payload);
    const transport::RemoteMemory remote = exposed->remote();
    lane->exposed[&send] = {send.peer, std::move(exposed)};
    return remote;
}

/// Ends the exposures to a process that is gone, and asks for nothing any more.
void Network::end_exposures(HeldLane lane, std::int32_t process) noexcept {
    std::erase_if(lane->exposed, [&](const auto& exposed) { return exposed.second.to == process; });
}

bool Network::can_read(HeldLane lane, Receiver& receiver, std::int32_t process) noexcept {
    return connect(lane, receiver, process) &&
        lane->lanes.can_read(static_cast<transport::Peer>(numbers_.rank_of(process)));
}

bool Network::read(ProgressCall& call, Receiver& receiver, const Pull& pull, std::uint64_t bytes) {
    auto reading = std::make_unique<Reading>(Reading{pull, bytes});
    {
        const LaneLock lane(*this);
        if (!can_read(lane, receiver, pull.process)) return false;
        Reading** last = &lane->to_read;
        while (*last != nullptr) last = &(*last)->next;
        *last = reading.release();
        if (counts(pull.process)) adjust(traffic_->sent[node::traffic_group(numbers_.rank())], 1);
        (void)ask_for_pieces(lane, call, receiver);
        tell_worker_what_is_owed(lane);
    }
    hand_over(call, receiver);
    return true;
}

/// Asks for pieces. Returns true if it asked for any.
bool Network::ask_for_pieces(HeldLane lane, ProgressCall& call, Receiver& receiver) noexcept {
    bool moved = false;
    while (lane->to_read != nullptr && lane->pieces < most_pieces &&
           ask_for_piece(lane, *lane->to_read)) {
        Reading& reading = *lane->to_read;
        if (reading.asked == reading.bytes) {
            lane->to_read = reading.next;
            if (reading.pieces == 0) end_reading(lane, call, receiver, reading);
        }
        moved = true;
    }
    return moved;
}

/// Asks for a piece. Returns false if there is no room for it. After a piece that could not be read
/// it asks for no other.
bool Network::ask_for_piece(HeldLane lane, Reading& reading) noexcept {
    const Pull& pull = reading.pull;
    const std::uint64_t bytes = std::min(piece, reading.bytes - reading.asked);
    if (reading.failed) {
        reading.asked = reading.bytes;
        return true;
    }
    const auto peer = static_cast<transport::Peer>(numbers_.rank_of(pull.process));
    switch (lane->lanes.read(peer, {pull.address + reading.asked, pull.key},
                             {pull.receive->buffer + reading.asked, bytes},
                             reinterpret_cast<std::uint64_t>(&reading))) {
        case transport::Post::retry: return false;
        case transport::Post::faulty:  // the lane reports it
            reading.failed = true;
            reading.asked = reading.bytes;
            return true;
        case transport::Post::done: break;
    }
    reading.asked += bytes;
    ++reading.pieces;
    ++lane->pieces;
    return true;
}

/// Called in a call of the lane.
void Network::end_piece(HeldLane lane, ProgressCall& call, Receiver& receiver, Reading& reading,
                        bool fine) noexcept {
    --lane->pieces;
    --reading.pieces;
    reading.failed = reading.failed || !fine;
    if (reading.pieces == 0 && reading.asked == reading.bytes)
        end_reading(lane, call, receiver, reading);
}

void Network::end_reading(HeldLane, ProgressCall& call, Receiver& receiver,
                          Reading& reading) noexcept {
    const std::unique_ptr<Reading> over(&reading);
    count_taken(over->pull.process);
    if (over->failed) return receiver.has_not_read(call, over->pull, over->bytes);
    counters_.network_received_bytes.add(over->bytes);
    receiver.has_read(call, over->pull, over->bytes);
}

// --- completing ---

void Network::complete_gathered(HeldLane lane, ProgressCall& call, Receiver& receiver) noexcept {
    while (!lane->gathered.empty()) {
        instance::Pending& pending = lane->gathered.take_front();
        if (is_data(pending)) receiver.streamed();
        if (pending.completes != nullptr) call.complete(*pending.completes);
        free(lane, pending);
    }
}

void Network::free(HeldLane lane, instance::Pending& pending) noexcept {
    waiting_.store(waiting_.load(relaxed) - 1, release);  // R2: pairs with A2
    lane->free.give(pending, pending_);
}

// --- progress ---

bool Network::poll(ProgressCall& call, Receiver& receiver) noexcept {
    const std::optional<HeldLane> free_lane = try_lock();
    if (!free_lane) return false;
    bool moved = false;
    {
        const LaneLock lane(*free_lane);
        moved =
            lane->lanes.has_job() ? poll_and_see(lane, call, receiver) : poll(lane, call, receiver);
        polls_.store(polls_.load(relaxed) + 1, relaxed);
        tell_worker_what_is_owed(lane);
    }
    hand_over(call, receiver);
    return moved;
}

/// Polls as poll() does, if a part of a payload may come unreported.
bool Network::poll_and_see(HeldLane lane, ProgressCall& call, Receiver& receiver) noexcept {
    const std::uint64_t begin = platform::ticks();
    return poll(lane, call, receiver) || platform::ticks() - begin > longer_than_nothing;
}

bool Network::poll_surely(ProgressCall& call, Receiver& receiver) noexcept {
    bool moved = false;
    {
        const LaneLock lane(*this);
        moved = poll(lane, call, receiver);
    }
    hand_over(call, receiver);
    return moved;
}

bool Network::poll(HeldLane lane, ProgressCall& call, Receiver& receiver) noexcept {
    Adapter adapter(*this, lane, call, receiver);
    const bool came = lane->lanes.poll(adapter) != 0;
    const bool moved = hand_over(lane, call, receiver) || came;
    // The lane has tried to let all of them leave. Those that the network does not take now are
    // copied, and leave later.
    lane->lanes.flush();
    complete_gathered(lane, call, receiver);
    receiver.polled(call);
    return moved;
}

bool Network::is_drained() noexcept {
    const LaneLock lane(*this);
    return all_handed_over() && lane->lanes.drain();
}

void Network::mark() noexcept {
    const LaneLock lane(*this);
    lane->lanes.mark();
}

bool Network::is_past_mark() noexcept {
    bool past = false;
    {
        const LaneLock lane(*this);
        past = lane->lanes.is_past_mark();
    }
    // A thread that found the lane locked just now has left a message, and does not come again.
    std::atomic_thread_fence(seq_cst);  // as in hand_over()
    if (any_fresh_.load(relaxed)) alarm_.ring();
    return past;
}

// --- resting ---

/// Also tells processes that have only sent: they would call, and take silence for a fault.
void Network::rest() noexcept {
    const LaneLock lane(*this);
    const transport::Guests* const guests = guests_.load(acquire);  // A4
    const auto end =
        numbers_.size() + static_cast<std::int32_t>(guests != nullptr ? guests->places() : 0);
    for (std::int32_t process = numbers_.here(); process < end; ++process) {
        const std::int32_t rank = numbers_.rank_of(process);
        const auto peer = static_cast<transport::Peer>(rank);
        try {
            if (lane->lanes.has_met(peer) && !lane->lanes.knows(peer))
                lane->lanes.connect(peer, address_of(rank));
        } catch (const std::exception&) {
            // It is not told then.
        }
    }
    lane->lanes.rest();
    lane->free.drain(pending_);
    {
        const std::lock_guard queues(queues_lock_);
        free_for_fresh_.drain(pending_);
    }
    pending_.trim();
}

void Network::resume() noexcept {
    stay_open();
    const LaneLock lane(*this);
    lane->lanes.resume();
}

// --- sleeping ---

/// Rings a worker that sleeps: no thread may come back for the message. A worker that naps comes by
/// itself if no thread does. With the lane held, a worker that finds nothing owed falls asleep.
void Network::tell_worker_what_is_owed(HeldLane lane) noexcept {
    if (asleep_.load(relaxed) && is_owed(lane)) {
        asleep_.store(false, relaxed);
        alarm_.ring();
    }
}

bool Network::needs_worker(std::uint32_t sleepers) noexcept {
    const std::uint64_t polls = polls_.load(relaxed);
    const bool polled = std::exchange(seen_polls_, polls) != polls;
    return !polled || sleepers != 0 || is_closing();
}

void Network::sleep(std::chrono::milliseconds at_most) noexcept {
    int descriptor = -1;
    {
        const LaneLock lane(*this);
        if (!lane->lanes.arm()) return;
        at_most = std::min(at_most, lane->lanes.nap());
        descriptor = lane->lanes.descriptor();
        asleep_.store(true, relaxed);
    }
    // A thread that found the lane locked just now has left a message, and does not come again.
    std::atomic_thread_fence(seq_cst);  // as in hand_over()
    if (!any_fresh_.load(relaxed)) alarm_.sleep(descriptor, at_most);
    const LaneLock lane(*this);
    asleep_.store(false, relaxed);
    lane->lanes.disarm();
}

}  // namespace heddle::p2p
