// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Messages to be sent, and their writing into the cells of a ring.

#include <cstdint>
#include <cstring>

#include "core/request.hpp"
#include "instance/channel.hpp"
#include "instance/pending.hpp"
#include "match/message.hpp"
#include "p2p/payload/payload.hpp"
#include "p2p/protocol.hpp"

namespace heddle::objects {
struct Communicator;
}
namespace heddle::p2p {

/// Kind of a send. Standard ones are the program's blocking sends.
enum class Sending : std::uint8_t { blocking, nonblocking, synchronous, standard };

/// A message to be sent.
struct Outbound {
    match::Envelope envelope;
    std::int32_t process;  ///< number of the destination
    const std::byte* data;
    std::uint64_t bytes;
    objects::Datatype* layout = nullptr;  ///< of the data; nullptr: dense
    std::uint64_t offset = 0;             ///< packed bytes of the data that come before
    objects::Communicator* communicator = nullptr;
    Sending how = Sending::blocking;
    std::uint64_t announced = 0;  ///< bytes of payload that stay with the sender
};

/// Writes the message with its protocol's own fields. The cells are reserved, and not published
/// yet.
[[gnu::always_inline]] inline void write_cells(node::Cell& cell, const Outbound& message,
                                               const Prefix& prefix, std::uint64_t stamp) noexcept {
    cell.context = message.envelope.context;
    cell.tag = message.envelope.tag;
    cell.source = message.envelope.source;
    cell.stamp = stamp;
    cell.length = static_cast<std::uint32_t>(prefix.bytes + message.bytes);
    cell.kind = static_cast<std::uint8_t>(prefix.kind);
    if (prefix.bytes != 0) std::memcpy(cell.payload(), prefix.fields, prefix.bytes);
    gather(cell.payload() + prefix.bytes, message.data, message.layout, message.offset,
           message.bytes);
}

/// Counts a message of the program, with so many bytes, that is in the ring, or queued for it.
[[gnu::always_inline]] inline void count_sent(instance::Channel& channel,
                                              std::uint64_t bytes) noexcept {
    channel.sending.sent_messages.add();
    channel.sending.sent_bytes.add(bytes);
}

/// Returns the message as one that waits. `completes` is done once it has left.
instance::Pending pending_of(const Outbound& message, const Prefix& prefix,
                             core::Request* completes, std::uint64_t stamp) noexcept;

void set_prefix(instance::Pending& pending, const Prefix& prefix) noexcept;

/// Returns whether it is the message of this send, which is not matched yet.
bool is_of(const instance::Pending& pending, const core::Request& send) noexcept;

}  // namespace heddle::p2p
