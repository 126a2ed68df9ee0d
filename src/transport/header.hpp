// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The header of a message between two processes, whichever path it takes: half a cache line. Its
/// payload follows right behind it, in a ring (node/ring.hpp) and in bytes from a network
/// (transport/batch.hpp).

#include <cstddef>
#include <cstdint>
#include <span>

namespace heddle::transport {

struct Header {
    std::uint32_t sequence;  ///< the transport's own: receivers of messages do not look at it
    std::uint32_t context;   ///< context id of the communicator
    std::int32_t tag;
    std::int32_t source;  ///< the sender's rank in the communicator
    /// Send order among the messages of one process; never compared with another's.
    std::uint64_t stamp;
    std::uint32_t length;  ///< bytes of payload
    std::uint16_t cells;   ///< cells of a ring that the message takes; not used by a network
    std::uint8_t kind;     ///< p2p::MessageKind: below first_own_kind
    std::uint8_t unused;

    /// Returns the payload of a header that is in its place.
    const std::byte* payload() const noexcept {
        return reinterpret_cast<const std::byte*>(this + 1);
    }
    std::span<const std::byte> whole_payload() const noexcept { return {payload(), length}; }
    std::byte* payload() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
};
static_assert(sizeof(Header) == 32);
static_assert(offsetof(Header, stamp) == 16 && offsetof(Header, length) == 24 &&
              offsetof(Header, kind) == 30);

/// Kinds from here on belong to transports, and are never handed to a consumer.
inline constexpr std::uint8_t first_own_kind = 0xf0;

}  // namespace heddle::transport
