// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The rings of payload of this process (node/payload_ring.hpp), and the channels that send by
/// them.
///
/// A channel gets one when it has sent much, since each ring comes to hold some megabytes. It names
/// the ring to the receiver by a message (protocols::payload_ring). It uses the ring once the
/// receiver has mapped it. There is a limited number of rings. Channels without one send large
/// messages by another method.
///
/// Thread safety  any thread. A channel belongs to a held outbox.

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "instance/channel.hpp"
#include "node/rings.hpp"
#include "tool/settings.hpp"

namespace heddle::p2p {

class PayloadRings {
public:
    PayloadRings(const node::Rings& rings, std::int32_t rank, const tool::Settings& settings);

    /// Returns the shortest length that goes by a ring of payload; ~0 if none does.
    std::uint64_t from() const noexcept { return from_; }

    /// Returns whether the channel has a ring that its receiver has mapped.
    static bool is_ready(instance::Channel& channel) noexcept {
        if (channel.payload == nullptr) [[unlikely]]
            return false;
        return channel.payload->is_ready();
    }
    /// Counts payload that the channel sends without a ring. Returns true if it should have one.
    static bool is_wanted(instance::Channel& channel, std::uint64_t bytes) noexcept {
        if (channel.payload != nullptr || channel.sent_without == refused) return false;
        channel.sent_without += bytes;
        return channel.sent_without >= worth_a_ring;
    }
    /// Gives the channel a ring. Returns its number; negative if there is none, now and later.
    std::int32_t give(instance::Channel& channel);

    /// Opens, on the other side, a ring that process `from` sends by. Returns an empty one if it
    /// cannot be mapped.
    node::PayloadConsumer open(std::int32_t from, std::uint32_t number) const;

    /// Binds rings again after the node's memory was unmapped. Returns false if a ring cannot be
    /// mapped (errno).
    bool bind_again();

private:
    static constexpr std::uint64_t worth_a_ring = 64 * 1024;
    static constexpr std::uint64_t never = ~std::uint64_t{0};
    static constexpr std::uint64_t refused = never;  ///< in place of a channel's count

    const node::Rings& rings_;
    const std::int32_t rank_;
    const std::uint64_t extent_;  ///< most bytes of one ring
    const std::uint64_t from_;
    std::mutex lock_;
    std::vector<std::unique_ptr<node::PayloadProducer>> taken_;  ///< by number
};

}  // namespace heddle::p2p
