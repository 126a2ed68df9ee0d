// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Records of messages, from senders to the receivers on their node.
///
/// Each pair of ranks has a queue in the memory of the node, made of chunks of records. The sender
/// takes, fills and links chunks, and the receiver gives them back to it. A record is one cache
/// line, so that a message costs one transfer. The receiver takes a record out of the queue when it
/// has received the message. Records before it in the queue wait in the receiver's own memory.
///
/// Thread safety  Any thread may call everything, except attach(), give_back() and left().

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "places.hpp"
#include "types.hpp"

namespace heddle::check {

/// The key of a message, besides its sender and receiver.
struct Envelope {
    std::uint64_t communicator = 0;
    int tag = 0;
    bool operator==(const Envelope&) const = default;
};

/// The record of a message.
struct Message {
    std::uint64_t communicator;
    Place place;
    std::uint64_t sum;  ///< the signature's sum
    std::int64_t elements, bytes;
    std::uint32_t code, name;
    std::int32_t tag;
    std::uint16_t function, from;  ///< from: the sender's place on the node

    static constexpr std::uint16_t withdrawal = 0xffff;  ///< a function: the record takes another
                                                         ///< one back
    Envelope envelope() const noexcept { return {communicator, tag}; }
    Signature signature() const noexcept;
    void set(const Signature& signature) noexcept;
};

/// A pending message, as its sender may take it back.
struct Sent {
    std::uint64_t number = 0;  ///< number in its queue; 0 if there is no record
    Envelope envelope;
    int to = 0;
};

class SentMessages {
public:
    /// Returns the size of memory for this many ranks.
    static std::size_t bytes(int ranks) noexcept;
    /// `memory` is zero, or another rank has attached to it.
    void attach(void* memory, int ranks, int own);

    /// Adds a record for the rank at place `to`. Returns number 0 if there is no room.
    Sent add(int to, Message message);
    void withdraw(const Sent& sent);

    enum class Found { none, agrees, differs };
    /// Takes out the oldest record of the sender and envelope for which `agrees` is true. If there
    /// is none, takes out the oldest of them.
    template <class Agrees>
    Found take(int from, Envelope envelope, Agrees agrees, Message& found);

    /// Leaves the unreceived messages of this rank to the last one of the node.
    void give_back();
    /// A message that was not received. The last rank calls left() after all give_back() calls.
    struct Left {
        int to;
        Message message;
    };
    std::vector<Left> left();

private:
    struct alignas(64) Record {
        Message message;
        std::atomic<std::uint32_t> lap;  ///< written last; equals that of its chunk if the record
                                         ///< is valid
    };
    static_assert(sizeof(Record) == 64);
    static constexpr std::uint32_t per_chunk = 15;
    struct Chunk {
        struct alignas(64) {
            std::atomic<std::uint32_t> next;
            std::uint32_t lap;    ///< how often it was taken
            std::uint32_t owner;  ///< the place of the sender that gets it back
        } head;
        std::array<Record, per_chunk> records;
    };
    /// The ends of a pair's queue, in the memory of the node.
    struct Ends {
        std::atomic<std::uint32_t> first;  ///< the first chunk that was ever filled
        std::uint32_t chunk, slot;         ///< the end of the part that a receiver has read when it
                                           ///< left
    };
    struct Heads {
        std::atomic<std::uint32_t> unused;  ///< number of chunks that were never taken
    };
    struct alignas(64) Outbox {
        std::mutex guard;
        Chunk* chunk = nullptr;
        std::uint32_t slot = 0;
        std::uint64_t count = 0;
    };
    struct Waiting {
        std::uint64_t number;
        Message message;
    };
    struct Hash {
        std::size_t operator()(const Envelope& envelope) const noexcept {
            return (envelope.communicator ^ static_cast<std::uint32_t>(envelope.tag)) *
                0x9e3779b97f4a7c15;
        }
    };
    struct alignas(64) Inbox {
        std::mutex guard;
        std::uint32_t chunk = 0, slot = 0;
        std::uint32_t taken = 0;  ///< bits of the chunk's slots that were taken early
        std::uint64_t count = 0;
        std::unordered_map<Envelope, std::deque<Waiting>, Hash> waiting;
        std::vector<Envelope> owed;  ///< records to be dropped when they come
    };

    Ends& ends(int to, int from) const noexcept;
    Record* room_in(Outbox& out, int to);
    std::uint32_t take_chunk() noexcept;
    void return_chunk(std::uint32_t index) noexcept;
    const Record* next(Inbox& in, int from) noexcept;
    static bool is_taken(const Inbox& in, std::uint32_t slot) noexcept {
        return (in.taken >> slot & 1) != 0;
    }
    static void advance(Inbox& in) noexcept {
        ++in.slot;
        ++in.count;
    }
    const Record* first_of(Inbox& in, int from, const Envelope& envelope) noexcept;
    void take_out(Inbox& in, const Record& record) noexcept;
    void drain(Inbox& in, int from);
    static void drop(Inbox& in, const Message& withdrawal);
    static bool is_owed(Inbox& in, const Envelope& envelope);
    template <class Agrees>
    static Found take_waiting(Inbox& in, Envelope envelope, Agrees agrees, Message& found);

    int ranks_ = 0, own_ = 0;
    std::uint32_t most_ = 0;  ///< number of chunks
    Heads* heads_ = nullptr;
    std::atomic<std::uint32_t>* returned_ = nullptr;  ///< lists of chunks, by their owners
    Ends* ends_ = nullptr;
    Chunk* chunks_ = nullptr;  ///< the first is none
    std::unique_ptr<Outbox[]> outboxes_;
    std::unique_ptr<Inbox[]> inboxes_;
    std::mutex free_guard_;
    std::vector<std::uint32_t> free_;
};

template <class Agrees>
SentMessages::Found SentMessages::take(int from, Envelope envelope, Agrees agrees, Message& found) {
    Inbox& in = inboxes_[static_cast<std::size_t>(from)];
    const std::lock_guard held(in.guard);
    if ((in.waiting.empty() || !in.waiting.contains(envelope)) && in.owed.empty())
        if (const Record* record = first_of(in, from, envelope);
            record != nullptr && agrees(record->message)) {
            found = record->message;
            take_out(in, *record);
            return Found::agrees;
        }
    drain(in, from);
    return take_waiting(in, envelope, agrees, found);
}

template <class Agrees>
SentMessages::Found SentMessages::take_waiting(Inbox& in, Envelope envelope, Agrees agrees,
                                               Message& found) {
    const auto entry = in.waiting.find(envelope);
    if (entry == in.waiting.end()) return Found::none;
    auto& queue = entry->second;
    auto at = queue.begin();
    while (at != queue.end() && !agrees(at->message)) ++at;
    const bool agreed = at != queue.end();
    if (!agreed) at = queue.begin();
    found = at->message;
    queue.erase(at);
    if (queue.empty()) in.waiting.erase(entry);
    return agreed ? Found::agrees : Found::differs;
}

}  // namespace heddle::check
