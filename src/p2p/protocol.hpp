// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// What messages between processes say.
///
///   eager       the payload comes at once
///   eager_sync  the same, and the sender waits for an `ack` that says it was matched
///   rendezvous  the payload stays with the sender. Once matched, the receiver either reads it out
///               of the sender's memory and answers `fin` (single copy), or asks with `cts` for
///               `data` messages that run through the ring (pipelined). While it reads a large one
///               it offers the sender a part of the work with `share`, to which the sender answers
///               `shared` when nothing is left to be taken.
///
/// Control messages (from ack on) name requests by address: a request stays where it is
/// until the operation is complete, and only its own process follows the address.

#include <cstdint>

namespace heddle::p2p {

enum class Kind : std::uint8_t {
    eager = 1,
    eager_sync,
    rendezvous,
    local,  ///< within the process: never in a ring, only in the unexpected queue
    ack,
    fin,
    cts,
    data,
    share,
    shared,
};

constexpr bool is_control(Kind kind) noexcept { return kind >= Kind::ack; }

/// Prefix of eager_sync, and payload of ack and fin.
struct SenderField {
    std::uint64_t sender;
};
inline constexpr std::uint64_t unreadable = 0;
struct RendezvousFields {
    std::uint64_t sender;
    std::uint64_t address;  ///< of dense data; unreadable: the sender must pack
    std::uint64_t length;
};
struct CtsFields {
    std::uint64_t sender;
    std::uint64_t receiver;
    std::uint64_t length;  ///< bytes that the receiver wants
};
/// Prefix of data.
struct DataFields {
    std::uint64_t receiver;
    std::uint64_t offset;
};

/// Of a SharedCopy of the receiver.
struct ShareFields {
    std::uint64_t sender;
    std::uint64_t number;
};
struct SharedFields {
    std::uint64_t sender;
    std::uint64_t number;
    std::uint64_t last;  ///< 1: the sender copied the last piece, and its send is complete
    std::uint64_t
        undone;  ///< where a piece begins that the sender took and could not copy; ~0: none
};

/// The data path answers in one word.
enum class [[nodiscard]] Post : std::uint8_t {
    done,   ///< handed over; the buffer is free again
    retry,  ///< no room; nothing was changed
};

}  // namespace heddle::p2p
