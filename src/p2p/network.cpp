// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/network.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <stdexcept>
#include <utility>

#include "p2p/payload.hpp"
#include "p2p/protocol.hpp"

namespace heddle::p2p {
namespace {

/// A large payload is read in pieces: a kernel sends several faster than one of the same length. Not all at once:
/// other messages come between them.
constexpr std::uint64_t piece = std::uint64_t{128} << 10;
constexpr std::uint32_t most_pieces = 16;

constexpr std::size_t most_pending = std::size_t{1} << 24;

/// A lane does not tell of parts of a payload: a poll that takes so long has moved some, and who waits goes on spinning.
constexpr std::chrono::microseconds longer_than_nothing{5};

/// Its prefix says what was where before it was cut: DataFields, or what begins like them.
bool may_be_cut(const instance::Pending& pending) noexcept {
    return is_data(pending) || pending.kind == static_cast<std::uint8_t>(Kind::access);
}
/// Somebody waits for it. Accesses gather, but for those whose answer is waited for.
bool is_urgent(const instance::Pending& pending) noexcept {
    const auto kind = static_cast<Kind>(pending.kind);
    return is_control(kind) && (kind != Kind::access || pending.envelope.tag == awaited_access);
}

}  // namespace

/// What a lane tells, to the receiver.
struct Network::Adapter final : transport::Arrivals {
    Adapter(Network& network, Turn& turn, Receiver& receiver) noexcept
        : network(network), turn(turn), receiver(receiver) {}

    bool arrived(transport::Peer peer, transport::Header& header) noexcept override {
        const bool taken = receiver.arrived(turn, process(peer), header);
        if (taken) {
            network.counters_.network_received_messages.add();
            network.counters_.network_received_bytes.add(header.length);
        }
        return taken;
    }
    void read_over(std::uint64_t token, bool fine) noexcept override {
        network.end_piece(turn, receiver, *reinterpret_cast<Reading*>(token), fine);
    }
    void lost(transport::Peer peer, std::string_view why) noexcept override {
        if (!network.is_closing()) receiver.lost(process(peer), why);
    }

private:
    std::int32_t process(transport::Peer peer) const noexcept {
        return network.numbers_.number_of(static_cast<std::int32_t>(peer));
    }

    Network& network;
    Turn& turn;
    Receiver& receiver;
};

Network::Network(const launch::Numbering& numbers, std::unique_ptr<transport::AnyLane> lane,
                 Addresses addresses)
    : numbers_(numbers),
      addresses_(std::move(addresses)),
      lane_(std::move(lane)),
      pending_(most_pending),
      packed_(lane_->most_payload()) {}

Network::~Network() {
    while (to_read_ != nullptr)
        delete std::exchange(to_read_, to_read_->next);  // of a job that comes to nothing
}

// --- sending ---

/// queues_lock_ held.
Network::Queue& Network::queue_of(std::int32_t process) {
    std::unique_ptr<Queue>& queue = queues_[process];
    if (queue == nullptr)
        queue = std::make_unique<Queue>(
            Queue{process, static_cast<transport::Peer>(numbers_.rank_of(process))});
    return *queue;
}

void Network::send(Turn& turn, Receiver& receiver, std::int32_t process,
                   const instance::Pending& message) {
    instance::Pending* const pending = pending_.take();
    if (pending == nullptr) throw std::bad_alloc();
    *pending = message;
    try {
        const std::lock_guard guard(queues_lock_);
        Queue& queue = queue_of(process);
        if (queue.sent.empty()) queue.next_fresh = std::exchange(fresh_, &queue);
        queue.sent.append(*pending);
    } catch (...) {
        pending_.give(pending);
        throw;
    }
    waiting_.fetch_add(1, relaxed);
    any_fresh_.store(true, relaxed);
    hand_over(turn, receiver);
}

/// Unless somebody else does. Whoever has the lane comes here after letting it go: either his look below finds
/// what was sent meanwhile, or its sender finds the lane free.
void Network::hand_over(Turn& turn, Receiver& receiver) noexcept {
    for (;;) {
        std::atomic_thread_fence(
            seq_cst);  // between what was sent, or the unlocking, and the looks
        if (!any_fresh_.load(relaxed) || !lane_lock_.try_lock()) return;
        {
            const std::lock_guard lane(lane_lock_, std::adopt_lock);
            (void)hand_over_held(turn, receiver);
            tell_worker_what_is_owed();
        }
    }
}

/// True if anything was handed over. Lane held.
bool Network::hand_over_held(Turn& turn, Receiver& receiver) noexcept {
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
    if (ask_for_pieces(receiver)) moved = true;
    if (std::exchange(urgent_, false)) lane_->flush();
    if (!lane_->owes()) complete_gathered(turn, receiver);
    return moved;
}

/// Lane held.
void Network::gather_sent() noexcept {
    if (!any_fresh_.load(relaxed)) return;
    const std::lock_guard guard(queues_lock_);
    any_fresh_.store(false, relaxed);
    while (fresh_ != nullptr) {
        Queue& queue = *std::exchange(fresh_, fresh_->next_fresh);
        queue.waiting.append(std::exchange(queue.sent, {}));
        if (std::exchange(queue.active, true)) continue;
        queue.next_active = std::exchange(active_, &queue);
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
    return lane_->post(queue.peer, header, {pending.prefix, pending.prefix_bytes}, {data, bytes});
}

void Network::withhold(std::int32_t process, bool on) {
    const std::lock_guard queues(queues_lock_);
    queue_of(process).withholds = on;
}

/// False: it cannot be reached.
bool Network::connect(Receiver& receiver, std::int32_t process) noexcept try {
    const std::int32_t rank = numbers_.rank_of(process);
    const auto peer = static_cast<transport::Peer>(rank);
    if (lane_->knows(peer)) [[likely]]
        return true;
    lane_->connect(peer, addresses_(rank));
    lane_->watch(peer, true);
    return true;
} catch (const std::exception& problem) {
    receiver.lost(process, problem.what());
    return false;
}

void Network::watch(Receiver& receiver, std::int32_t process) noexcept {
    const std::lock_guard lane(lane_lock_);
    (void)connect(receiver, process);
}

// --- reading ---

transport::RemoteMemory Network::expose(const core::Request& send, transport::Bytes payload) {
    const std::lock_guard lane(lane_lock_);
    auto exposed = lane_->expose(payload);
    const transport::RemoteMemory remote = exposed->remote();
    exposed_[&send] = std::move(exposed);
    return remote;
}

void Network::read(Turn& turn, Receiver& receiver, const Pull& pull, std::uint64_t bytes) {
    auto reading = std::make_unique<Reading>(Reading{pull, bytes});
    {
        const std::lock_guard lane(lane_lock_);
        Reading** last = &to_read_;
        while (*last != nullptr) last = &(*last)->next;
        *last = reading.release();
        (void)ask_for_pieces(receiver);
    }
    hand_over(turn, receiver);
}

/// True if any was. Lane held.
bool Network::ask_for_pieces(Receiver& receiver) noexcept {
    bool moved = false;
    while (to_read_ != nullptr && pieces_ < most_pieces && ask_for_piece(receiver, *to_read_)) {
        if (to_read_->asked == to_read_->bytes) to_read_ = to_read_->next;
        moved = true;
    }
    return moved;
}

/// False: there is no room for it. Lane held.
bool Network::ask_for_piece(Receiver& receiver, Reading& reading) noexcept {
    const Pull& pull = reading.pull;
    const std::uint64_t bytes = std::min(piece, reading.bytes - reading.asked);
    if (!connect(receiver, pull.process)) return false;
    if (lane_->read(static_cast<transport::Peer>(numbers_.rank_of(pull.process)),
                    {pull.address + reading.asked, pull.key},
                    {pull.receive->buffer + reading.asked, bytes},
                    reinterpret_cast<std::uint64_t>(&reading)) != transport::Post::done)
        return false;
    reading.asked += bytes;
    ++reading.pieces;
    ++pieces_;
    return true;
}

/// In a call of the lane.
void Network::end_piece(Turn& turn, Receiver& receiver, Reading& reading, bool fine) noexcept {
    --pieces_;
    --reading.pieces;
    reading.failed = reading.failed || !fine;  // the lane tells that the peer is lost
    if (reading.pieces != 0 || reading.asked != reading.bytes) return;
    const std::unique_ptr<Reading> over(&reading);
    if (over->failed) return;
    counters_.network_received_bytes.add(over->bytes);
    receiver.has_read(turn, over->pull);
}

// --- completing ---

/// Lane held.
void Network::complete_gathered(Turn& turn, Receiver& receiver) noexcept {
    while (!gathered_.empty()) {
        instance::Pending& pending = gathered_.take_front();
        if (is_data(pending)) receiver.streamed();
        if (pending.completes != nullptr) turn.complete(*pending.completes);
        free(pending);
    }
}

void Network::free(instance::Pending& pending) noexcept {
    waiting_.fetch_sub(1, release);
    pending_.give(&pending);
}

// --- progress ---

bool Network::poll(Turn& turn, Receiver& receiver) noexcept {
    if (!lane_lock_.try_lock()) return false;
    bool moved = false;
    {
        const std::lock_guard lane(lane_lock_, std::adopt_lock);
        const auto begin = std::chrono::steady_clock::now();
        moved = poll_held(turn, receiver);
        if (std::chrono::steady_clock::now() - begin > longer_than_nothing) moved = true;
        polls_.store(polls_.load(relaxed) + 1, relaxed);
        tell_worker_what_is_owed();
    }
    hand_over(turn, receiver);
    return moved;
}

bool Network::poll_surely(Turn& turn, Receiver& receiver) noexcept {
    bool moved = false;
    {
        const std::lock_guard lane(lane_lock_);
        moved = poll_held(turn, receiver);
    }
    hand_over(turn, receiver);
    return moved;
}

/// Lane held.
bool Network::poll_held(Turn& turn, Receiver& receiver) noexcept {
    Adapter adapter(*this, turn, receiver);
    const bool came = lane_->poll(adapter) != 0;
    const bool moved = hand_over_held(turn, receiver) || came;
    // The lane has tried to let all of them leave. What the network does not take now is copied, and leaves later.
    lane_->flush();
    complete_gathered(turn, receiver);
    receiver.polled(turn);
    return moved;
}

bool Network::is_drained() noexcept {
    const std::lock_guard lane(lane_lock_);
    return all_handed_over() && lane_->drain();
}

void Network::mark() noexcept {
    const std::lock_guard lane(lane_lock_);
    lane_->mark();
}

bool Network::is_past_mark() noexcept {
    bool past = false;
    {
        const std::lock_guard lane(lane_lock_);
        past = lane_->is_past_mark();
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
    for (std::int32_t process = numbers_.here(); process < numbers_.size(); ++process) {
        const std::int32_t rank = numbers_.rank_of(process);
        const auto peer = static_cast<transport::Peer>(rank);
        try {
            if (lane_->has_met(peer) && !lane_->knows(peer)) lane_->connect(peer, addresses_(rank));
        } catch (const std::exception&) {
            // It is not told, then.
        }
    }
    lane_->rest();
    pending_.trim();
}

void Network::resume() noexcept {
    stay_open();
    const std::lock_guard lane(lane_lock_);
    lane_->resume();
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

void Network::add_sleepers(int change) noexcept {
    const std::uint32_t before = sleepers_.fetch_add(static_cast<std::uint32_t>(change), relaxed);
    if (before == 0) alarm_.ring();
}

bool Network::needs_worker() noexcept {
    const std::uint64_t polls = polls_.load(relaxed);
    const bool polled = std::exchange(seen_polls_, polls) != polls;
    return !polled || sleepers_.load(relaxed) != 0 || is_closing();
}

void Network::sleep(std::chrono::milliseconds at_most) noexcept {
    {
        const std::lock_guard lane(lane_lock_);
        if (!lane_->arm()) return;
        at_most = std::min(at_most, lane_->nap());
        asleep_.store(true, relaxed);
    }
    // Whoever found the lane locked just now has left a message, and does not come again.
    std::atomic_thread_fence(seq_cst);  // as in hand_over()
    if (!any_fresh_.load(relaxed)) alarm_.sleep(lane_->descriptor(), at_most);
    const std::lock_guard lane(lane_lock_);
    asleep_.store(false, relaxed);
    lane_->disarm();
}

}  // namespace heddle::p2p
