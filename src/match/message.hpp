// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The envelope that matching decides on, and a message that arrived before its receive was posted.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "core/object.hpp"

namespace heddle::match {

inline constexpr std::int32_t any_source = -1;
inline constexpr std::int32_t any_tag = -2;

/// Envelope of a message (MPI 5.0, 3.2.3). The context id stands for the communicator.
struct Envelope {
    std::uint32_t context;
    std::int32_t source;
    std::int32_t tag;

    bool operator==(const Envelope&) const noexcept = default;
};

/// Pattern of a receive. Source and tag may be wildcards.
using Pattern = Envelope;

constexpr bool accepts(const Pattern& wanted, const Envelope& message) noexcept {
    return wanted.context == message.context &&
        (wanted.source == any_source || wanted.source == message.source) &&
        (wanted.tag == any_tag || wanted.tag == message.tag);
}

struct Message;

inline constexpr std::uint8_t no_protocol = 0xff;  ///< of a free message

/// Membership in one queue of messages (match/queue.hpp).
struct Link {
    Message* before = nullptr;
    Message* after = nullptr;
};

/// An unexpected message. Its payload has been copied out of the ring, or stays with the sender.
///
/// Three lines, an odd number: first lines of many messages in a row are spread over all of a
/// cache.
struct alignas(cache_line) Message {
    // The first line has all members that matching without wildcards needs.
    std::atomic<core::Kind> kind{core::Kind::none};  ///< message while an MPI_Message names it
    Envelope envelope{};
    std::uint64_t arrived = 0;  ///< grows with each message that the matcher keeps
    Link exact;                 ///< among those of the same envelope or source (match/source.hpp)
    Link arrival;               ///< among all of the matcher
    std::int32_t peer = 0;      ///< number of the sending process
    std::uint8_t protocol = 0;  ///< p2p::Kind, or no_protocol
    std::uint8_t instance = 0;  ///< where it arrived
    /// Which of the next three links it is in (match/wildcard_index.hpp).
    std::uint8_t filed = 0;
    Link any_source;               ///< among those with the same context and tag
    Link any_tag;                  ///< among those with the same context and source
    Link any;                      ///< among those with the same context
    std::uint64_t stamp = 0;       ///< send order among the messages of one sender
    std::uint64_t length = 0;      ///< bytes of the whole message
    std::uint64_t sender = 0;      ///< the sender's request, in the sending process
    std::byte* payload = nullptr;  ///< copied payload: `small`, or owned
    union {
        std::byte small[40];
        struct {
            std::uint64_t address;  ///< in the sending process; or its place in a ring of payload
            std::uint8_t manifest;  ///< of a streamed message (node/payload_ring.hpp)
            /// True if the sender of a streamed message waits for an answer in any case.
            bool synchronous;
        } far;                   ///< without a copy
        std::uint64_t words[5];  ///< the last one: the offer of a message that has one
    };
    union {
        Message* next = nullptr;  ///< in a list of free messages, or of messages to be reordered
        void* communicator;       ///< while an MPI_Message names it: that of the probe
    };

    /// A copied payload beside an offer is at most so long if it lies in `small`.
    static constexpr std::size_t small_beside_offer = 32;
    Message() noexcept {}
    Message(const Message&) = delete;
    Message& operator=(const Message&) = delete;
    /// A message may still be kept when its process ends its use of MPI.
    ~Message() {
        if (protocol != no_protocol && payload != small) std::free(payload);
    }

    std::uint64_t& offer() noexcept { return words[4]; }
    std::uint64_t offer() const noexcept { return words[4]; }
};
static_assert(sizeof(Message) == 3 * cache_line);

}  // namespace heddle::match
