// SPDX-License-Identifier: BSD-3-Clause
#include "sent.hpp"

#include <algorithm>
#include <mutex>

namespace heddle::check {

namespace {

constexpr std::size_t line = 64;

std::size_t lines(std::size_t bytes) noexcept { return (bytes + line - 1) / line * line; }
std::size_t pairs(int ranks) noexcept {
    return static_cast<std::size_t>(ranks) * static_cast<std::size_t>(ranks);
}
/// Returns the number of chunks: two for each pair that talks, within limits, and more for messages
/// that wait.
std::uint32_t chunks_of(int ranks) noexcept {
    constexpr std::size_t least = 1 << 13, most = 1 << 17;
    return static_cast<std::uint32_t>(std::min(least + 2 * pairs(ranks), most));
}

}  // namespace

Signature Message::signature() const noexcept {
    Signature one;
    one.sum = sum;
    one.elements = elements;
    one.bytes = bytes;
    one.code = code;
    one.name = name;
    return one;
}
void Message::set(const Signature& signature) noexcept {
    sum = signature.sum;
    elements = signature.elements;
    bytes = signature.bytes;
    code = signature.code;
    name = signature.name;
}

std::size_t SentMessages::bytes(int ranks) noexcept {
    return line + lines(static_cast<std::size_t>(ranks) * sizeof *returned_) +
        lines(pairs(ranks) * sizeof(Ends)) + chunks_of(ranks) * sizeof(Chunk);
}

void SentMessages::attach(void* memory, int ranks, int own) {
    ranks_ = ranks;
    own_ = own;
    most_ = chunks_of(ranks);
    char* at = static_cast<char*>(memory);
    heads_ = reinterpret_cast<Heads*>(at);
    at += line;
    returned_ = reinterpret_cast<std::atomic<std::uint32_t>*>(at);
    at += lines(static_cast<std::size_t>(ranks) * sizeof *returned_);
    ends_ = reinterpret_cast<Ends*>(at);
    at += lines(pairs(ranks) * sizeof(Ends));
    chunks_ = reinterpret_cast<Chunk*>(at);
    outboxes_ = std::make_unique<Outbox[]>(static_cast<std::size_t>(ranks));
    inboxes_ = std::make_unique<Inbox[]>(static_cast<std::size_t>(ranks));
}

SentMessages::Ends& SentMessages::ends(int to, int from) const noexcept {
    return ends_[static_cast<std::size_t>(to) * static_cast<std::size_t>(ranks_) +
                 static_cast<std::size_t>(from)];
}

// ---- Chunks ----

std::uint32_t SentMessages::take_chunk() noexcept try {
    const std::lock_guard held(free_guard_);
    if (free_.empty())
        for (std::uint32_t index = returned_[own_].exchange(0, std::memory_order_acquire);
             index != 0; index = chunks_[index].head.next.load(std::memory_order_relaxed))
            free_.push_back(index);
    if (!free_.empty()) {
        const std::uint32_t index = free_.back();
        free_.pop_back();
        return index;
    }
    if (heads_->unused.load(std::memory_order_relaxed) + 1 >= most_) return 0;
    const std::uint32_t index = heads_->unused.fetch_add(1, std::memory_order_relaxed) + 1;
    return index < most_ ? index : 0;
} catch (...) {
    return 0;
}

void SentMessages::return_chunk(std::uint32_t index) noexcept {
    Chunk& chunk = chunks_[index];
    auto& list = returned_[chunk.head.owner];
    std::uint32_t first = list.load(std::memory_order_relaxed);
    do chunk.head.next.store(first, std::memory_order_relaxed);
    while (!list.compare_exchange_weak(first, index, std::memory_order_release,
                                       std::memory_order_relaxed));
}

// ---- Senders ----

SentMessages::Record* SentMessages::room_in(Outbox& out, int to) {
    if (out.chunk != nullptr && out.slot < per_chunk) return &out.chunk->records[out.slot++];
    const std::uint32_t index = take_chunk();
    if (index == 0) return nullptr;
    Chunk& chunk = chunks_[index];
    chunk.head.next.store(0, std::memory_order_relaxed);
    chunk.head.owner = static_cast<std::uint32_t>(own_);
    ++chunk.head.lap;
    // Publishes the head: pairs with next().
    (out.chunk == nullptr ? ends(to, own_).first : out.chunk->head.next)
        .store(index, std::memory_order_release);
    out.chunk = &chunk;
    out.slot = 1;
    return &chunk.records[0];
}

Sent SentMessages::add(int to, Message message) {
    Outbox& out = outboxes_[static_cast<std::size_t>(to)];
    const std::lock_guard held(out.guard);
    Record* const record = room_in(out, to);
    if (record == nullptr) return {};
    record->message = message;
    // Publishes the message: pairs with next().
    record->lap.store(out.chunk->head.lap, std::memory_order_release);
    return {++out.count, message.envelope(), to};
}

void SentMessages::withdraw(const Sent& sent) {
    if (sent.number == 0) return;
    Message message{};
    message.communicator = sent.envelope.communicator;
    message.tag = sent.envelope.tag;
    message.elements = static_cast<std::int64_t>(sent.number);
    message.function = Message::withdrawal;
    message.from = static_cast<std::uint16_t>(own_);
    (void)add(sent.to, message);
}

// ---- Receivers ----

/// Returns the oldest record that is still in the queue, or nullptr if there is none.
const SentMessages::Record* SentMessages::next(Inbox& in, int from) noexcept {
    if (in.chunk == 0) in.chunk = ends(own_, from).first.load(std::memory_order_acquire);
    if (in.chunk == 0) return nullptr;
    if (in.slot == per_chunk) {
        const std::uint32_t index = chunks_[in.chunk].head.next.load(std::memory_order_acquire);
        if (index == 0) return nullptr;
        return_chunk(in.chunk);
        in.chunk = index;
        in.slot = 0;
        in.taken = 0;
    }
    const Chunk& chunk = chunks_[in.chunk];
    const Record& record = chunk.records[in.slot];
    return record.lap.load(std::memory_order_acquire) == chunk.head.lap ? &record : nullptr;
}

/// Returns the oldest record of the envelope in the current chunk. Returns nullptr if a message was
/// withdrawn before it.
const SentMessages::Record* SentMessages::first_of(Inbox& in, int from,
                                                   const Envelope& envelope) noexcept {
    if (next(in, from) == nullptr) return nullptr;
    const Chunk& chunk = chunks_[in.chunk];
    for (std::uint32_t slot = in.slot; slot < per_chunk; ++slot) {
        const Record& record = chunk.records[slot];
        if (record.lap.load(std::memory_order_acquire) != chunk.head.lap) return nullptr;
        if (is_taken(in, slot)) continue;
        if (record.message.function == Message::withdrawal) return nullptr;
        if (record.message.envelope() == envelope) return &record;
    }
    return nullptr;
}

void SentMessages::take_out(Inbox& in, const Record& record) noexcept {
    const auto slot = static_cast<std::uint32_t>(&record - chunks_[in.chunk].records.data());
    in.taken |= std::uint32_t{1} << slot;
    while (in.slot < per_chunk && is_taken(in, in.slot)) advance(in);
}

void SentMessages::drain(Inbox& in, int from) {
    for (const Record* record = next(in, from); record != nullptr; record = next(in, from)) {
        const Message& message = record->message;
        if (message.function == Message::withdrawal)
            drop(in, message);
        else if (!is_taken(in, in.slot) && !is_owed(in, message.envelope()))
            in.waiting[message.envelope()].push_back({in.count + 1, message});
        advance(in);
    }
}

/// Drops the record of a withdrawn message. If a later message of the same envelope was received
/// for it, the record of that one is dropped.
void SentMessages::drop(Inbox& in, const Message& withdrawal) {
    const auto entry = in.waiting.find(withdrawal.envelope());
    if (entry == in.waiting.end()) return in.owed.push_back(withdrawal.envelope());
    auto& queue = entry->second;
    const auto wanted = static_cast<std::uint64_t>(withdrawal.elements);
    auto at = std::find_if(queue.begin(), queue.end(),
                           [wanted](const Waiting& one) { return one.number == wanted; });
    if (at == queue.end()) at = queue.begin();
    queue.erase(at);
    if (queue.empty()) in.waiting.erase(entry);
}

bool SentMessages::is_owed(Inbox& in, const Envelope& envelope) {
    const auto found = std::find(in.owed.begin(), in.owed.end(), envelope);
    if (found == in.owed.end()) return false;
    in.owed.erase(found);
    return true;
}

// ---- The end ----

void SentMessages::give_back() {
    for (int from = 0; from < ranks_; ++from) {
        Inbox& in = inboxes_[static_cast<std::size_t>(from)];
        drain(in, from);
        ends(own_, from).slot = in.slot;
        ends(own_, from).chunk = in.chunk;
    }
    // Unreceived messages go to this rank's own queue, behind those that it has read.
    for (int from = 0; from < ranks_; ++from)
        for (const auto& [envelope, queue] : inboxes_[static_cast<std::size_t>(from)].waiting)
            for (const Waiting& one : queue) (void)add(own_, one.message);
}

std::vector<SentMessages::Left> SentMessages::left() {
    std::vector<Left> all;
    std::vector<Left> withdrawals;
    for (int to = 0; to < ranks_; ++to)
        for (int from = 0; from < ranks_; ++from) {
            Ends& at = ends(to, from);
            std::uint32_t index = at.chunk != 0 ? at.chunk : at.first.load(), slot = at.slot;
            for (; index != 0; index = chunks_[index].head.next.load(), slot = 0) {
                const Chunk& chunk = chunks_[index];
                for (; slot < per_chunk && chunk.records[slot].lap.load() == chunk.head.lap;
                     ++slot) {
                    const Message& message = chunk.records[slot].message;
                    (message.function == Message::withdrawal ? withdrawals : all)
                        .push_back({to, message});
                }
            }
        }
    for (const Left& withdrawal : withdrawals) {
        const auto taken_back = std::find_if(all.begin(), all.end(), [&](const Left& one) {
            return one.to == withdrawal.to && one.message.from == withdrawal.message.from &&
                one.message.envelope() == withdrawal.message.envelope();
        });
        if (taken_back != all.end()) all.erase(taken_back);
    }
    return all;
}

}  // namespace heddle::check
