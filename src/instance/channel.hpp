// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The sending side: from one instance of this process to the same instance of one other process.
///
/// Guarded by the instance's outbox lock. Messages that do not fit into the ring wait in `backlog`,
/// in order. While a message waits there, later ones queue behind it. Streamed messages have their
/// headers in the ring. They wait in a list of their own for room in the ring of payload.

#include <bit>
#include <cstdint>

#include "instance/pending.hpp"
#include "node/offers.hpp"
#include "node/payload_ring.hpp"
#include "node/ring.hpp"
#include "tool/counters.hpp"

namespace heddle::instance {

/// A channel. Its size is a power of two, which makes finding one by its number short.
struct alignas(4 * cache_line) Channel {
    enum class State : std::uint8_t {
        unbound = 0,  ///< never used: zeroed memory is a valid channel
        open,
        backlogged,
    };
    State state = State::unbound;
    std::uint8_t instance = 0;  ///< number of its instance
    bool streaming = false;     ///< in the list of streaming channels
    std::int32_t process = 0;
    /// Classes of contexts whose messages take the fast path: announced (node/context_use.hpp)
    /// since the state is open.
    std::uint64_t open_for = 0;
    sync::OfferCursor next_offer{};   ///< where its messages are offered (node/offers.hpp)
    tool::counters::Sending sending;  ///< on the line that a message writes anyway
    node::Producer ring;
    Channel* next_backlogged = nullptr;
    PendingList backlog;
    // Payload that goes past the ring.
    node::PayloadProducer* payload = nullptr;
    std::uint64_t sent_without = 0;  ///< bytes sent before there was a ring of payload
    PendingList streams;
    Channel* next_streaming = nullptr;
    // State of an idle ring (p2p/payload/idle_rings.hpp).
    Channel* next_open = nullptr;
    std::uint64_t seen_head = 0;  ///< the head in the last round
    /// seen_head at the last drop. 0: the peer has given nothing back.
    std::uint64_t dropped_at = 0;
};
static_assert(std::has_single_bit(sizeof(Channel)));

}  // namespace heddle::instance
