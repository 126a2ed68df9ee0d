// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A protocol as a value: the functions for messages of one kind. Each is in a file of this folder,
/// beside its functions; protocols/all.cpp lists them.
///
/// A message of the program is matched first (Receiver::deliver()). Then one of the two groups of
/// functions is used:
///   here         its payload has come with it, or before it. If a receive waits, `take` is called.
///                Otherwise `keep` is called, and `give` later.
///   announced    its payload is still with its sender, or on its way. The announcement is kept.
///                `fetch` gets the payload once no lock is held.
/// Messages between the processes of the library only have `arrived`. They come out of a ring, or
/// by the network.
///
/// Thread safety  `announced_by`, `length`, `ahead`, `take` and `keep` are called with the instance
///                locked, `arrived` with the instance or the lane. `give` is called with or without
///                it; `fetch` without any lock.

#include <cstdint>

#include "core/request.hpp"
#include "instance/instance.hpp"
#include "match/message.hpp"
#include "p2p/progress_call.hpp"
#include "p2p/protocol.hpp"

namespace heddle::p2p {

struct Base;
class Far;
class LargeCopy;
class Messages;
class Sender;

/// Parts of the engine that protocols call.
struct Parts {
    Base& base;
    Messages& messages;
    Sender& sender;
    LargeCopy& copies;
    Far& far;
};

/// A message that has come. Its cells, or its batch, stay in place during the call.
struct Arrival {
    ProgressCall& call;
    std::int32_t process;
    const transport::Header& header;
    /// Instance of the ring that it came by. nullptr: it came by the network, which only control
    /// messages may do here.
    const instance::LockedInstance* instance;
};

/// Announcement of a payload that is not here.
struct RemotePayload {
    std::uint64_t sender;
    std::uint64_t offer;  ///< or the key for reading it
    std::uint64_t address;
    std::uint64_t length;
    std::uint8_t manifest = 0;
    bool synchronous = false;
};

struct Protocol {
    MessageKind kind;

    RemotePayload (*announced_by)(const transport::Header& header) noexcept = nullptr;
    /// Gets the first `bytes` of the payload, and completes the receive.
    void (*fetch)(const Parts& parts, ProgressCall& call, const Pull& pull,
                  std::uint64_t bytes) = nullptr;

    std::uint64_t (*length)(const transport::Header& header) noexcept = nullptr;
    /// Prefetches memory that is read next, before the message is matched.
    void (*ahead)(const Parts& parts, const Arrival& arrival) noexcept = nullptr;
    /// Gives the receive its payload, and completes it. Throws std::bad_alloc only if an answer
    /// finds no memory.
    void (*take)(const Parts& parts, const Arrival& arrival, core::Request& receive) = nullptr;
    /// Writes the kept parts into the message. Throws std::bad_alloc.
    void (*keep)(const Parts& parts, const Arrival& arrival, match::Message& message) = nullptr;
    /// Gives the receive the payload of a kept message; it is completed afterwards.
    void (*give)(const Parts& parts, ProgressCall& call, core::Request& receive,
                 const match::Message& message) = nullptr;

    /// Frees what a kept message holds besides itself, if no receive takes it.
    void (*leave)(const Base& base, const match::Message& message) noexcept = nullptr;

    void (*arrived)(const Parts& parts, const Arrival& arrival) = nullptr;
};

const Protocol& protocol_of(MessageKind kind) noexcept;
inline const Protocol& protocol_of(const match::Message& message) noexcept {
    return protocol_of(static_cast<MessageKind>(message.protocol));
}
inline const Protocol& protocol_of(const transport::Header& header) noexcept {
    return protocol_of(static_cast<MessageKind>(header.kind));
}

/// Returns the request of this process that the other end names.
template <class Fields>
core::Request& request_named_by(const Arrival& arrival) noexcept {
    return *reinterpret_cast<core::Request*>(fields_of<Fields>(arrival.header).sender);
}

}  // namespace heddle::p2p
