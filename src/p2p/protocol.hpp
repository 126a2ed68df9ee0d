// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Messages between processes and their fields. p2p/protocols/ handles them.
///
///   eager       the payload comes at once.
///   placed      the same by a ring of payload, at the place that the header names
///               (node/payload_ring.hpp).
///   streamed    the payload follows through a ring of payload, piece by piece, matched or not.
///               A receiver that has waited for long closes the message. It gets the rest by one
///               of the methods of a rendezvous.
///   eager_sync  the same as eager, and the sender waits for an `ack` that says it was matched.
///   rendezvous  the payload stays with the sender until the message is matched. Then the receiver
///               may read it out of the sender's memory and answer `fin` (single copy).
///               Or it asks with `cts` for `data` messages through the ring (pipelined).
///               While it reads a large one it offers the sender a part of the work with `share`.
///               The sender answers `shared` when nothing is left to be taken.
///
/// Control messages (from ack on) name requests by address. A request keeps its address until the
/// operation is complete, and only its own process follows the address.
///
/// A sender takes a message back (MPI_Cancel) out of its backlog. Or it takes back an offer that
/// the receiver has not accepted yet (sync/offers.hpp). The receiver drops that message when it
/// finds it. A receiver of another node is asked with `cancel`. It answers `cancelled` if it finds
/// the message, otherwise not: then the message is being received.
///
/// Messages to other nodes and jobs are eager, eager_sync, readable, or rendezvous, whose payload
/// is then pipelined. `access` asks for accesses to a window there (p2p/far/far_access.hpp).
/// Answers are `data`, `ack`, or `refused`.

#include <cstdint>
#include <cstring>

#include "instance/pending.hpp"
#include "node/offers.hpp"
#include "node/ring.hpp"
#include "node/sizes.hpp"

namespace heddle::p2p {

enum class MessageKind : std::uint8_t {
    eager = 1,
    eager_sync,
    rendezvous,
    local,    ///< within the process: never in a ring, only in the unexpected queue
    nothing,  ///< has the number of a message that was taken back, for receivers that count
    placed,
    streamed,
    readable,  ///< to another node: as rendezvous, and the network may read the payload
    ack,
    fin,
    cts,
    data,
    share,
    shared,
    payload_ring,  ///< names a ring of payload for this instance
    cancel,        ///< the sender, on another node, wants a message back
    cancelled,     ///< the message goes back
    pressure,      ///< from another node: whether its process is short of memory
    access,        ///< from another node, to a window
    refused,       ///< answer to an access that is not done
    letter,        ///< from another job (p2p/far/guest_listener.hpp)
};

constexpr bool is_control(MessageKind kind) noexcept { return kind >= MessageKind::ack; }

/// Returns whether a large payload begins or goes on with it. That also happens while the
/// receiver's program computes (p2p/node_worker.hpp).
constexpr bool moves_large_payload(MessageKind kind) noexcept {
    return kind == MessageKind::rendezvous || kind == MessageKind::streamed ||
        kind == MessageKind::cts || kind == MessageKind::data || kind == MessageKind::share;
}

/// Returns whether its sender may take it back until it is matched, or the send is complete.
constexpr bool is_offered(MessageKind kind) noexcept {
    return kind == MessageKind::eager_sync || kind == MessageKind::rendezvous ||
        kind == MessageKind::streamed;
}

/// Returns whether its sender, on another node, may ask for it.
constexpr bool may_be_taken_back(MessageKind kind) noexcept {
    return is_offered(kind) || kind == MessageKind::readable;
}

/// Names a request of the process that the message goes to. Some kinds have no other fields.
template <MessageKind kind>
struct NamesSender {
    static constexpr MessageKind message_kind = kind;
    std::uint64_t sender;
};
using AckFields = NamesSender<MessageKind::ack>;
using FinFields = NamesSender<MessageKind::fin>;
using CancelFields = NamesSender<MessageKind::cancel>;  ///< with the envelope of the message
using CancelledFields = NamesSender<MessageKind::cancelled>;
/// An offer: its number in a block of slots, that block of its ring, and the instance of the ring.
struct MessageOffer {
    std::uint64_t number;  ///< below 2^50
    std::uint8_t instance;
    std::uint8_t block;

    static MessageOffer of(std::uint64_t word) noexcept {
        return {(word & numbers) / node::most_instances,
                static_cast<std::uint8_t>(word % node::most_instances),
                static_cast<std::uint8_t>(word >> block_shift)};
    }
    std::uint64_t word() const noexcept {
        if (number == node::Offers::none) return 0;
        return std::uint64_t{block} << block_shift | number * node::most_instances | instance;
    }

private:
    static constexpr int block_shift = 56;
    static constexpr std::uint64_t numbers = (std::uint64_t{1} << block_shift) - 1;
};
/// First fields of an offered message's prefix.
struct OfferedFields {
    std::uint64_t sender;
    std::uint64_t offer;  ///< word of a MessageOffer; 0: it cannot be taken back
};
struct EagerSyncFields : OfferedFields {
    static constexpr MessageKind message_kind = MessageKind::eager_sync;
};
inline constexpr std::uint64_t unreadable = 0;
struct RendezvousFields : OfferedFields {
    static constexpr MessageKind message_kind = MessageKind::rendezvous;
    std::uint64_t address;  ///< of dense data; unreadable: the sender must pack
    std::uint64_t length;
};
struct ReadableFields {
    static constexpr MessageKind message_kind = MessageKind::readable;
    std::uint64_t sender;
    std::uint64_t key;
    std::uint64_t address;
    std::uint64_t length;
};
struct PlacedFields {
    static constexpr MessageKind message_kind = MessageKind::placed;
    std::uint64_t place;
    std::uint64_t length;
};
struct StreamedFields : OfferedFields {
    static constexpr MessageKind message_kind = MessageKind::streamed;
    std::uint64_t address;  ///< of dense data; or unreadable
    std::uint64_t length : 48;
    std::uint64_t manifest : 8;
    std::uint64_t synchronous : 8;
};
struct PressureFields {
    static constexpr MessageKind message_kind = MessageKind::pressure;
    std::uint64_t pressure;  ///< 1: payloads are to be kept until they are matched; 0: no longer
};
struct PayloadRingFields {
    static constexpr MessageKind message_kind = MessageKind::payload_ring;
    std::uint64_t number;  ///< of a ring of payload, among those of the sender
};
struct CtsFields {
    static constexpr MessageKind message_kind = MessageKind::cts;
    std::uint64_t sender;
    std::uint64_t receiver;
    std::uint64_t from;    ///< bytes that have come already
    std::uint64_t length;  ///< bytes that the receiver wants
};
/// Prefix of data.
struct DataFields {
    static constexpr MessageKind message_kind = MessageKind::data;
    std::uint64_t receiver;
    std::uint64_t offset;
};

inline bool is_data(const instance::Pending& pending) noexcept {
    return pending.kind == static_cast<std::uint8_t>(DataFields::message_kind);
}
/// Notes that the first `bytes` of the data have left.
inline void pass_piece(instance::Pending& data, std::uint64_t bytes) noexcept {
    data.offset += bytes;
    data.bytes -= bytes;
    DataFields fields;
    std::memcpy(&fields, data.prefix, sizeof fields);
    fields.offset = data.offset;
    std::memcpy(data.prefix, &fields, sizeof fields);
}
/// Prefix of access. It begins as that of data: pieces of one access have the same address and
/// different offsets.
struct AccessFields {
    static constexpr MessageKind message_kind = MessageKind::access;
    std::uint64_t address;   ///< in the window, of the byte with offset 0
    std::uint64_t offset;    ///< packed bytes of the asking process's data before this piece
    std::uint64_t receiver;  ///< request that the answer completes; 0: no answer is wanted
    std::uint32_t length;    ///< bytes or elements
    std::uint8_t kind;       ///< rma::FarKind, since the next fields belong to rma/
    std::uint8_t operation;
    std::uint16_t element;
};
static_assert(sizeof(AccessFields) <= node::inline_payload);
/// Tag of an access whose answer a thread awaits. Others have tag 0.
inline constexpr std::int32_t awaited_access = 1;
/// Prefix of letter. Processes of different jobs exchange letters before they have a communicator.
struct LetterFields {
    static constexpr MessageKind message_kind = MessageKind::letter;
    std::uint64_t to;    ///< a key of the receiver
    std::uint64_t from;  ///< a key of the sender, for an answer
    std::uint64_t says;  ///< belongs to dyn/
};
/// Prefix of refused.
struct RefusedFields {
    static constexpr MessageKind message_kind = MessageKind::refused;
    std::uint64_t receiver;
    std::uint64_t bytes;  ///< bytes of data that do not come
};

/// Returns the fields at the beginning of a message's payload, in its place.
template <class Fields>
Fields fields_of(const transport::Header& header) noexcept {
    Fields fields;
    std::memcpy(&fields, header.payload(), sizeof fields);
    return fields;
}

/// Names a SharedCopy of the receiver.
struct ShareFields {
    static constexpr MessageKind message_kind = MessageKind::share;
    std::uint64_t sender;
    std::uint64_t number;
};
struct SharedFields {
    static constexpr MessageKind message_kind = MessageKind::shared;
    std::uint64_t sender;
    std::uint64_t number;
    std::uint64_t last;    ///< 1: the sender copied the last piece, and its send is complete
    std::uint64_t undone;  ///< start of a piece that the sender took and could not copy; ~0: none
};

/// Prefix of a message: its kind, and that kind's fields before the payload.
struct Prefix {
    MessageKind kind = MessageKind::eager;
    const void* fields = nullptr;
    std::uint32_t bytes = 0;

    constexpr Prefix() = default;  ///< of an eager message, which has no fields
    template <class Fields>
        requires requires { Fields::message_kind; }
    Prefix(const Fields& all) noexcept  // NOLINT: what is to be said may stand for it
        : kind(Fields::message_kind), fields(&all), bytes(sizeof all) {}
    Prefix(const instance::Pending& pending) noexcept  // NOLINT: likewise
        : kind(static_cast<MessageKind>(pending.kind)),
          fields(pending.prefix),
          bytes(pending.prefix_bytes) {}
    /// Makes a prefix whose payload is written beside the fields.
    Prefix(MessageKind kind, const void* all, std::uint32_t bytes) noexcept
        : kind(kind), fields(all), bytes(bytes) {}
};

/// Result of the data path, in one word.
enum class [[nodiscard]] Post : std::uint8_t {
    done,   ///< handed over; the buffer is free again
    retry,  ///< no room; nothing was changed
};

}  // namespace heddle::p2p
