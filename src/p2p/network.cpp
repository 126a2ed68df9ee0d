// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/network.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <new>
#include <stdexcept>
#include <utility>

#include "p2p/payload.hpp"
#include "p2p/protocol.hpp"
#include "platform/cpu.hpp"

namespace heddle::p2p {
namespace {

/// A large payload is read in pieces: a kernel sends several faster than one of the same length. Not all at once:
/// other messages come between them.
constexpr std::uint64_t piece = std::uint64_t{128} << 10;
constexpr std::uint32_t most_pieces = 16;

/// What the lane to guests takes at least, whenever it comes.
constexpr std::size_t most_payload_to_guests = std::size_t{32} << 10;

constexpr std::size_t most_pending = std::size_t{1} << 24;

/// The network of a job does not tell of parts of a payload: a poll that takes so many ticks (4 to 8 us, where they are of some
/// gigahertz) has moved some, and who waits goes on spinning.
constexpr std::uint64_t longer_than_nothing = 16384;

/// Its prefix says what was where before it was cut: DataFields, or what begins like them.
bool may_be_cut(const instance::Pending& pending) noexcept {
    return is_data(pending) ||
        pending.kind == static_cast<std::uint8_t>(AccessFields::message_kind);
}
/// Somebody waits for it. Accesses gather, but for those whose answer is waited for.
bool is_urgent(const instance::Pending& pending) noexcept {
    const auto kind = static_cast<MessageKind>(pending.kind);
    return is_control(kind) &&
        (kind != AccessFields::message_kind || pending.envelope.tag == awaited_access);
}

}  // namespace

/// What a lane tells, to the receiver.
struct Network::Adapter final : transport::Arrivals {
    Adapter(Network& network, ProgressCall& call, Receiver& receiver) noexcept
        : network(network), call(call), receiver(receiver) {}

    bool arrived(transport::Peer peer, transport::Header& header) noexcept override {
        const bool taken = receiver.arrived(call, process(peer), header);
        if (taken) {
            if (network.traffic_ != nullptr) network.count(network.traffic_->taken, process(peer));
            network.counters_.network_received_messages.add();
            network.counters_.network_received_bytes.add(header.length);
        }
        return taken;
    }
    void read_over(std::uint64_t token, bool fine) noexcept override {
        network.end_piece(call, receiver, *reinterpret_cast<Reading*>(token), fine);
    }
    void lost(transport::Peer peer, std::string_view why) noexcept override {
        network.end_exposures(process(peer));
        if (!network.is_closing()) receiver.lost(process(peer), why);
    }
    void left(transport::Peer peer) noexcept override {
        network.end_exposures(process(peer));
        if (!network.is_closing()) receiver.left(process(peer));
    }
    void stranger() noexcept override { network.counters_.network_strangers.add(); }

private:
    std::int32_t process(transport::Peer peer) const noexcept {
        return network.numbers_.number_of(static_cast<std::int32_t>(peer));
    }

    Network& network;
    ProgressCall& call;
    Receiver& receiver;
};

Network::Network(const launch::Numbering& numbers, std::unique_ptr<transport::AnyLane> lane,
                 Addresses addresses, node::Traffic* traffic)
    : numbers_(numbers),
      addresses_(std::move(addresses)),
      traffic_(traffic),
      lane_(static_cast<transport::Peer>(numbers.size()), std::move(lane)),
      pending_(most_pending),
      packed_(lane_.has_job() ? std::min(lane_.most_payload(), most_payload_to_guests)
                              : most_payload_to_guests),
      queue_of_(static_cast<std::size_t>(numbers.size() - numbers.here()) +
                transport::Guests::most) {
    if (traffic_ != nullptr) traffic_->is_counted.store(1, relaxed);
}

Network::~Network() {
    while (to_read_ != nullptr)
        delete std::exchange(to_read_, to_read_->next);  // of a job that comes to nothing
}

void Network::add_guests(std::unique_ptr<transport::AnyLane> lane,
                         const transport::Guests& guests) {
    assert(lane->most_payload() >= packed_.size());
    {
        const std::lock_guard guard(lane_lock_);
        lane_.add_guests(std::move(lane));
        guests_.store(&guests, release);  // R4: pairs with A4
    }
    alarm_.ring();  // a worker that sleeps does not look there
}

void Network::forget_guests(transport::Guests& guests,
                            const std::function<bool(std::int32_t process)>& may_go) {
    const std::lock_guard lane(lane_lock_);
    gather_sent();
    guests.forget([&](transport::Peer guest) {
        const std::int32_t process = numbers_.size() + static_cast<std::int32_t>(guest);
        Queue* const queue = find_queue(process);
        if (queue != nullptr && !queue->waiting.empty()) return false;
        if (!may_go(process) || !lane_.forget(static_cast<transport::Peer>(process))) return false;
        if (queue != nullptr) queue->withholds = false;
        return true;
    });
}

/// The lock that guards the counter held. Processes of other jobs are not counted, who count for themselves.
void Network::count(std::atomic<std::uint64_t>& what, std::int32_t process) const noexcept {
    if (!numbers_.is_guest(process)) what.store(what.load(relaxed) + 1, relaxed);
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
    if (lane_lock_.try_lock()) {
        const std::lock_guard lane(lane_lock_, std::adopt_lock);
        gather_sent();  // this thread may have sent something before while the lane was locked
        append(queue, message);
        (void)hand_over_held(call, receiver);
        tell_worker_what_is_owed();
    } else {
        leave_in_queue(queue, message);
    }
    hand_over(call, receiver);
}

/// Lane held. Throws std::bad_alloc, and has done nothing then.
void Network::append(Queue& queue, const instance::Pending& message) {
    instance::Pending* const pending = free_.take(pending_);
    if (pending == nullptr) throw std::bad_alloc();
    *pending = message;
    if (traffic_ != nullptr) count(traffic_->sent, queue.process);
    waiting_.store(waiting_.load(relaxed) + 1, relaxed);
    queue.waiting.append(*pending);
    activate(queue);
}

/// Likewise, for whoever has the lane.
void Network::leave_in_queue(Queue& queue, const instance::Pending& message) {
    const std::lock_guard guard(queues_lock_);
    instance::Pending* const pending = free_for_fresh_.take(pending_);
    if (pending == nullptr) throw std::bad_alloc();
    *pending = message;
    if (traffic_ != nullptr) count(traffic_->sent_in_queue, queue.process);
    if (queue.sent.empty()) queue.next_fresh = std::exchange(fresh_, &queue);
    queue.sent.append(*pending);
    ++fresh_count_;
    any_fresh_.store(true, relaxed);
}

/// Lane held.
void Network::activate(Queue& queue) noexcept {
    if (!std::exchange(queue.active, true)) queue.next_active = std::exchange(active_, &queue);
}

/// Unless somebody else does. Whoever has the lane comes here after letting it go: either his look below finds
/// what was sent meanwhile, or its sender finds the lane free.
void Network::hand_over(ProgressCall& call, Receiver& receiver) noexcept {
    for (;;) {
        std::atomic_thread_fence(
            seq_cst);  // between what was sent, or the unlocking, and the looks
        if (!any_fresh_.load(relaxed) || !lane_lock_.try_lock()) return;
        {
            const std::lock_guard lane(lane_lock_, std::adopt_lock);
            (void)hand_over_held(call, receiver);
            tell_worker_what_is_owed();
        }
    }
}

/// True if anything was handed over. Lane held.
bool Network::hand_over_held(ProgressCall& call, Receiver& receiver) noexcept {
    bool moved = false;
    gather_sent();
    for (Queue** at = &active_; *at != nullptr;) {
        Queue& queue = **at;
        while (!queue.waiting.empty() && post_front(receiver, queue)) moved = true;
        if (queue.waiting.empty()) {
            queue.active = false;
            *at = queue.next_active;
        } else {
            at = &queue.next_active;
        }
    }
    if (ask_for_pieces(call, receiver)) moved = true;
    if (std::exchange(urgent_, false)) lane_.flush();
    if (!lane_.owes()) complete_gathered(call, receiver);
    return moved;
}

/// Lane held.
void Network::gather_sent() noexcept {
    if (!any_fresh_.load(relaxed)) return;
    const std::lock_guard guard(queues_lock_);
    waiting_.store(waiting_.load(relaxed) + std::exchange(fresh_count_, 0), relaxed);
    any_fresh_.store(false, release);  // R1: pairs with A1; who reads this reads that count, too
    while (fresh_ != nullptr) {
        Queue& queue = *std::exchange(fresh_, fresh_->next_fresh);
        queue.waiting.append(std::exchange(queue.sent, {}));
        activate(queue);
    }
}

/// The first message that waits, or a piece of it; false: there is no room. Lane held.
bool Network::post_front(Receiver& receiver, Queue& queue) noexcept {
    instance::Pending& pending = queue.waiting.front();
    if (queue.withholds && receiver.withhold(pending)) [[unlikely]]
        counters_.network_withheld.add();
    const std::uint64_t bytes = may_be_cut(pending)
        ? std::min<std::uint64_t>(pending.bytes, packed_.size() - pending.prefix_bytes)
        : pending.bytes;
    if (!connect(receiver, queue.process)) return false;
    switch (post(queue, pending, bytes)) {
        case transport::Post::retry: return false;
        case transport::Post::faulty: break;  // the lane tells of it
        case transport::Post::done:
            counters_.network_sent_messages.add();
            counters_.network_sent_bytes.add(bytes);
            break;
    }
    if (is_urgent(pending)) urgent_ = true;
    if (bytes == pending.bytes) {
        gathered_.append(queue.waiting.take_front());
        return true;
    }
    if (traffic_ != nullptr) count(traffic_->sent, queue.process);
    pass_piece(pending, bytes);
    return true;
}

transport::Post Network::post(Queue& queue, const instance::Pending& pending,
                              std::uint64_t bytes) noexcept {
    transport::Header header{};
    header.context = pending.envelope.context;
    header.tag = pending.envelope.tag;
    header.source = pending.envelope.source;
    header.kind = pending.kind;
    const std::byte* data = pending.data + pending.offset;
    if (pending.layout != nullptr) {
        gather(packed_.data(), pending.data, pending.layout, pending.offset, bytes);
        data = packed_.data();
    }
    return lane_.post(queue.peer, header, {pending.prefix, pending.prefix_bytes}, {data, bytes});
}

void Network::withhold(std::int32_t process, bool on) { queue_of(process).withholds = on; }

/// False: it cannot be reached.
bool Network::connect(Receiver& receiver, std::int32_t process) noexcept try {
    const std::int32_t rank = numbers_.rank_of(process);
    const auto peer = static_cast<transport::Peer>(rank);
    if (lane_.knows(peer)) [[likely]]
        return true;
    lane_.connect(peer, address_of(rank));
    lane_.watch(peer, true);
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
    const std::lock_guard lane(lane_lock_);
    (void)connect(receiver, process);
}

// --- reading ---

std::optional<transport::RemoteMemory> Network::expose(Receiver& receiver,
                                                       const core::Request& send,
                                                       transport::Bytes payload) {
    const std::lock_guard lane(lane_lock_);
    if (!can_read(receiver, send.peer, payload.size())) return std::nullopt;
    auto exposed = lane_.expose(static_cast<transport::Peer>(numbers_.rank_of(send.peer)), payload);
    const transport::RemoteMemory remote = exposed->remote();
    exposed_[&send] = {send.peer, std::move(exposed)};
    return remote;
}

/// That process is gone, and asks for nothing any more. Lane held.
void Network::end_exposures(std::int32_t process) noexcept {
    std::erase_if(exposed_, [&](const auto& exposed) { return exposed.second.to == process; });
}

/// Lane held.
bool Network::can_read(Receiver& receiver, std::int32_t process, std::uint64_t bytes) noexcept {
    return connect(receiver, process) &&
        lane_.can_read(static_cast<transport::Peer>(numbers_.rank_of(process)), bytes);
}

bool Network::read(ProgressCall& call, Receiver& receiver, const Pull& pull, std::uint64_t bytes) {
    auto reading = std::make_unique<Reading>(Reading{pull, bytes});
    {
        const std::lock_guard lane(lane_lock_);
        if (!can_read(receiver, pull.process, bytes)) return false;
        Reading** last = &to_read_;
        while (*last != nullptr) last = &(*last)->next;
        *last = reading.release();
        if (traffic_ != nullptr) count(traffic_->sent, pull.process);
        (void)ask_for_pieces(call, receiver);
        tell_worker_what_is_owed();
    }
    hand_over(call, receiver);
    return true;
}

/// True if any was. Lane held.
bool Network::ask_for_pieces(ProgressCall& call, Receiver& receiver) noexcept {
    bool moved = false;
    while (to_read_ != nullptr && pieces_ < most_pieces && ask_for_piece(*to_read_)) {
        Reading& reading = *to_read_;
        if (reading.asked == reading.bytes) {
            to_read_ = reading.next;
            if (reading.pieces == 0) end_reading(call, receiver, reading);
        }
        moved = true;
    }
    return moved;
}

/// False: there is no room for it. After a piece that could not be read no other is asked for. Lane held.
bool Network::ask_for_piece(Reading& reading) noexcept {
    const Pull& pull = reading.pull;
    const std::uint64_t bytes = std::min(piece, reading.bytes - reading.asked);
    if (reading.failed) {
        reading.asked = reading.bytes;
        return true;
    }
    const auto peer = static_cast<transport::Peer>(numbers_.rank_of(pull.process));
    switch (lane_.read(peer, {pull.address + reading.asked, pull.key},
                       {pull.receive->buffer + reading.asked, bytes},
                       reinterpret_cast<std::uint64_t>(&reading))) {
        case transport::Post::retry: return false;
        case transport::Post::faulty:  // the lane tells of it
            reading.failed = true;
            reading.asked = reading.bytes;
            return true;
        case transport::Post::done: break;
    }
    reading.asked += bytes;
    ++reading.pieces;
    ++pieces_;
    return true;
}

/// In a call of the lane.
void Network::end_piece(ProgressCall& call, Receiver& receiver, Reading& reading,
                        bool fine) noexcept {
    --pieces_;
    --reading.pieces;
    reading.failed = reading.failed || !fine;
    if (reading.pieces == 0 && reading.asked == reading.bytes) end_reading(call, receiver, reading);
}

/// Lane held.
void Network::end_reading(ProgressCall& call, Receiver& receiver, Reading& reading) noexcept {
    const std::unique_ptr<Reading> over(&reading);
    if (traffic_ != nullptr) count(traffic_->taken, over->pull.process);
    if (over->failed) return receiver.has_not_read(call, over->pull, over->bytes);
    counters_.network_received_bytes.add(over->bytes);
    receiver.has_read(call, over->pull, over->bytes);
}

// --- completing ---

/// Lane held.
void Network::complete_gathered(ProgressCall& call, Receiver& receiver) noexcept {
    while (!gathered_.empty()) {
        instance::Pending& pending = gathered_.take_front();
        if (is_data(pending)) receiver.streamed();
        if (pending.completes != nullptr) call.complete(*pending.completes);
        free(pending);
    }
}

/// Lane held.
void Network::free(instance::Pending& pending) noexcept {
    waiting_.store(waiting_.load(relaxed) - 1, release);  // R2: pairs with A2
    free_.give(pending, pending_);
}

// --- progress ---

bool Network::poll(ProgressCall& call, Receiver& receiver) noexcept {
    if (!lane_lock_.try_lock()) return false;
    bool moved = false;
    {
        const std::lock_guard lane(lane_lock_, std::adopt_lock);
        moved = lane_.has_job() ? poll_held_and_see(call, receiver) : poll_held(call, receiver);
        polls_.store(polls_.load(relaxed) + 1, relaxed);
        tell_worker_what_is_owed();
    }
    hand_over(call, receiver);
    return moved;
}

/// As poll_held(), where a part of a payload may come of which nothing is told. Lane held.
bool Network::poll_held_and_see(ProgressCall& call, Receiver& receiver) noexcept {
    const std::uint64_t begin = platform::ticks();
    return poll_held(call, receiver) || platform::ticks() - begin > longer_than_nothing;
}

bool Network::poll_surely(ProgressCall& call, Receiver& receiver) noexcept {
    bool moved = false;
    {
        const std::lock_guard lane(lane_lock_);
        moved = poll_held(call, receiver);
    }
    hand_over(call, receiver);
    return moved;
}

/// Lane held.
bool Network::poll_held(ProgressCall& call, Receiver& receiver) noexcept {
    Adapter adapter(*this, call, receiver);
    const bool came = lane_.poll(adapter) != 0;
    const bool moved = hand_over_held(call, receiver) || came;
    // The lane has tried to let all of them leave. What the network does not take now is copied, and leaves later.
    lane_.flush();
    complete_gathered(call, receiver);
    receiver.polled(call);
    return moved;
}

bool Network::is_drained() noexcept {
    const std::lock_guard lane(lane_lock_);
    return all_handed_over() && lane_.drain();
}

void Network::mark() noexcept {
    const std::lock_guard lane(lane_lock_);
    lane_.mark();
}

bool Network::is_past_mark() noexcept {
    bool past = false;
    {
        const std::lock_guard lane(lane_lock_);
        past = lane_.is_past_mark();
    }
    // Whoever found the lane locked just now has left a message, and does not come again.
    std::atomic_thread_fence(seq_cst);  // as in hand_over()
    if (any_fresh_.load(relaxed)) alarm_.ring();
    return past;
}

// --- resting ---

/// Also those hear of it that have only sent: they would call, and take silence for a fault.
void Network::rest() noexcept {
    const std::lock_guard lane(lane_lock_);
    const transport::Guests* const guests = guests_.load(acquire);  // A4
    const auto end =
        numbers_.size() + static_cast<std::int32_t>(guests != nullptr ? guests->places() : 0);
    for (std::int32_t process = numbers_.here(); process < end; ++process) {
        const std::int32_t rank = numbers_.rank_of(process);
        const auto peer = static_cast<transport::Peer>(rank);
        try {
            if (lane_.has_met(peer) && !lane_.knows(peer)) lane_.connect(peer, address_of(rank));
        } catch (const std::exception&) {
            // It is not told, then.
        }
    }
    lane_.rest();
    free_.drain(pending_);
    {
        const std::lock_guard queues(queues_lock_);
        free_for_fresh_.drain(pending_);
    }
    pending_.trim();
}

void Network::resume() noexcept {
    stay_open();
    const std::lock_guard lane(lane_lock_);
    lane_.resume();
}

// --- sleeping ---

/// No thread may come back for it. A worker that naps comes by itself if none does. Lane held, in which a worker that
/// finds nothing owed falls asleep.
void Network::tell_worker_what_is_owed() noexcept {
    if (asleep_.load(relaxed) && is_owed()) {
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
    {
        const std::lock_guard lane(lane_lock_);
        if (!lane_.arm()) return;
        at_most = std::min(at_most, lane_.nap());
        asleep_.store(true, relaxed);
    }
    // Whoever found the lane locked just now has left a message, and does not come again.
    std::atomic_thread_fence(seq_cst);  // as in hand_over()
    if (!any_fresh_.load(relaxed)) alarm_.sleep(lane_.descriptor(), at_most);
    const std::lock_guard lane(lane_lock_);
    asleep_.store(false, relaxed);
    lane_.disarm();
}

}  // namespace heddle::p2p
