// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A protocol as a value: what the library does with messages of one kind. Each stands in a file of this folder, beside
/// its functions; protocols/all.cpp lists them.
///
/// A message of the program is matched first (Receiver::deliver()). Then one of the two groups of functions is used:
///   here         its payload has come with it, or before it: `take` if a receive waits, else `keep`, and `give` later
///   announced    its payload is still with its sender, or on its way: the announcement is kept, and `fetch` gets the payload
///                once no lock is held
/// Messages between the processes of the library have `arrived` alone. They come out of a ring, or by the network.
///
/// Thread safety  `announced_by`, `length`, `ahead`, `take` and `keep` are called with the instance locked, `arrived` with
///                the instance or the lane; `give` with or without it; `fetch` without any lock.

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

/// The parts of the engine that protocols ask.
struct Parts {
    Base& base;
    Messages& messages;
    Sender& sender;
    LargeCopy& copies;
    Far& far;
};

/// A message that has come. Its cells, or its batch, stay where they are during the call.
struct Arrival {
    ProgressCall& call;
    std::int32_t process;
    const transport::Header& header;
    /// Into whose ring it came. nullptr: by the network, which control messages alone may have here.
    const instance::LockedInstance* instance;
};

/// What is said of a payload that is not here.
struct RemotePayload {
    std::uint64_t sender;
    std::uint64_t offer;  ///< or the key by which it is read
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
    /// Before the message is matched: asks for memory that is read next.
    void (*ahead)(const Parts& parts, const Arrival& arrival) noexcept = nullptr;
    /// Gives the receive its payload, and completes it. Throws std::bad_alloc only where an answer finds no memory.
    void (*take)(const Parts& parts, const Arrival& arrival, core::Request& receive) = nullptr;
    /// Writes into the message what is kept. Throws std::bad_alloc.
    void (*keep)(const Parts& parts, const Arrival& arrival, match::Message& message) = nullptr;
    /// Gives the receive the payload of a kept one; it is completed afterwards.
    void (*give)(const Parts& parts, ProgressCall& call, core::Request& receive,
                 const match::Message& message) = nullptr;

    /// Frees what a kept message holds besides itself, which nobody receives.
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

/// The request of this process that the other end names.
template <class Fields>
core::Request& request_named_by(const Arrival& arrival) noexcept {
    return *reinterpret_cast<core::Request*>(fields_of<Fields>(arrival.header).sender);
}

}  // namespace heddle::p2p
