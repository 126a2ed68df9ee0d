// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The way out: from one instance of this process to the same instance of one other process.
///
/// Guarded by the instance's outbox lock. What does not fit into the ring waits in `backlog`, in
/// order; while something waits there, later messages queue behind it. Messages that are streamed have
/// their headers in the ring, and wait in a list of their own for room in the ring of payload.

#include <bit>
#include <cstdint>

#include "instance/pending.hpp"
#include "node/offers.hpp"
#include "node/payload_ring.hpp"
#include "node/ring.hpp"
#include "tool/counters.hpp"

namespace heddle::instance {

/// Its size is a power of two, which makes finding one by its number short.
struct alignas(4 * cache_line) Channel {
    enum class State : std::uint8_t {
        unbound = 0,  ///< never used: zeroed memory is a valid channel
        open,
        backlogged,
    };
    State state = State::unbound;
    std::uint8_t instance = 0;  ///< number of the one that it is of
    bool streaming = false;     ///< listed as such
    std::int32_t process = 0;
    /// Classes of contexts whose messages take the short way: announced (node/context_use.hpp) since
    /// the state is open.
    std::uint64_t open_for = 0;
    sync::OfferCursor next_offer{};   ///< where its messages are offered (node/offers.hpp)
    tool::counters::Sending sending;  ///< on the line that a message writes anyway
    node::Producer ring;
    Channel* next_backlogged = nullptr;
    PendingList backlog;
    // Payload that goes past the ring.
    node::PayloadProducer* payload = nullptr;
    std::uint64_t sent_without = 0;  ///< bytes, before there was one
    PendingList streams;
    Channel* next_streaming = nullptr;
    // What is known of an idle ring (p2p/idle_rings.hpp).
    Channel* next_open = nullptr;
    std::uint64_t seen_head = 0;   ///< in the last round
    std::uint64_t dropped_at = 0;  ///< the head then; 0: nothing has come back from there
};
static_assert(std::has_single_bit(sizeof(Channel)));

}  // namespace heddle::instance
