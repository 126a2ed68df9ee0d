// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The way out: from one instance of this process to the same instance of one other process.
///
/// Guarded by the instance's outbox lock. What does not fit into the ring waits in `backlog`, in
/// order; while something waits there, later messages queue behind it. Messages that are streamed have
/// their headers in the ring, and wait in a list of their own for room in the ring of payload.

#include <bit>
#include <cstdint>
#include <cstring>

#include "core/request.hpp"
#include "match/message.hpp"
#include "tool/counters.hpp"
#include "transport/shm/node.hpp"

namespace heddle::instance {

/// A message that waits for room in the ring.
struct Pending {
    Pending* next = nullptr;
    match::Envelope envelope{};
    std::uint64_t stamp = 0;
    std::uint8_t kind = 0;
    std::uint8_t prefix_bytes = 0;  ///< of the protocol's own fields
    std::byte prefix[transport::shm::inline_payload]{};
    const std::byte* data = nullptr;  ///< the buffer; what follows the prefix stays the request's
    objects::Datatype* layout = nullptr;  ///< of the buffer; nullptr: dense
    std::uint64_t offset = 0;             ///< packed bytes that have gone before
    std::uint64_t bytes = 0;
    core::Request* completes = nullptr;  ///< done once the message is in the ring
    unsigned manifest = 0;  ///< of one that is streamed (transport/shm/payload_ring.hpp)
};

/// Its size is a power of two, which makes finding one by its number short.
struct alignas(4 * cache_line) Channel {
    enum class State : std::uint8_t {
        unbound = 0,  ///< never used: zeroed memory is a valid channel
        open,
        backlogged,
    };
    State state = State::unbound;
    std::int32_t process = 0;
    sync::OfferCursor next_offer{};   ///< where its messages are offered (transport/shm/offers.hpp)
    tool::counters::Sending sending;  ///< on the line that a message writes anyway
    transport::shm::Producer ring;
    Channel* next_backlogged = nullptr;
    Pending* first = nullptr;
    Pending* last = nullptr;
    // Payload that goes past the ring.
    transport::shm::PayloadProducer* payload = nullptr;
    std::uint64_t sent_without = 0;  ///< bytes, before there was one
    bool streaming = false;          ///< listed as such
    Pending* first_stream = nullptr;
    Pending* last_stream = nullptr;
    Channel* next_streaming = nullptr;
};
static_assert(std::has_single_bit(sizeof(Channel)));

}  // namespace heddle::instance
