// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/payload/payload_rings.hpp"

#include <algorithm>
#include <cstddef>
#include <unistd.h>

#include "platform/limits.hpp"
#include "platform/memory.hpp"
#include "tool/recipe.hpp"

namespace heddle::p2p {
namespace {

/// Length in bytes from which messages use the ring. Fewer lines take less time through the ring of
/// cells than header and payload apart.
constexpr std::uint64_t shortest = 352;

/// Returns the best size of a ring: twice the second cache. Before a line is written again, it has
/// left the sender's cache for the one that both share (docs/adr/0029-payload-rings.md).
std::uint64_t best_extent() noexcept {
    constexpr std::uint64_t least = std::uint64_t{1} << 20, most = std::uint64_t{4} << 20;
    const long cache = sysconf(_SC_LEVEL2_CACHE_SIZE);
    return cache <= 0 ? least : std::clamp(2 * static_cast<std::uint64_t>(cache), least, most);
}

bool are_used(const node::Rings& rings, const tool::Settings& settings) noexcept {
    return rings.payload_rings_each() != 0 && settings.payload_ring != 0 &&
        tool::features_of(settings).payload_rings && !platform::addresses_are_limited();
}

/// Populates the first part of a ring that is used: its head, and the first extent.
void populate(node::PayloadRing& ring) noexcept {
    constexpr std::size_t head = offsetof(node::PayloadRing, data);
    platform::populate(&ring, head + node::PayloadSizes::first_bytes);
}

}  // namespace

PayloadRings::PayloadRings(const node::Rings& rings, std::int32_t rank,
                           const tool::Settings& settings)
    : rings_(rings),
      rank_(rank),
      extent_(std::min(settings.payload_ring, best_extent())),
      from_(are_used(rings, settings) ? shortest : never) {}

std::int32_t PayloadRings::give(instance::Channel& channel) {
    std::lock_guard guard(lock_);
    channel.sent_without = refused;  // channels with a ring never give it back
    if (taken_.size() == rings_.payload_rings_each()) return -1;
    const std::size_t number = taken_.size();
    node::PayloadRing* ring = rings_.payload_ring(static_cast<std::size_t>(rank_), number);
    if (ring == nullptr) return -1;
    populate(*ring);
    taken_.push_back(std::make_unique<node::PayloadProducer>(*ring, extent_));
    channel.payload = taken_.back().get();
    return static_cast<std::int32_t>(number);
}

node::PayloadConsumer PayloadRings::open(std::int32_t from, std::uint32_t number) const {
    if (platform::addresses_are_limited()) return {};
    node::PayloadRing* ring = rings_.payload_ring(static_cast<std::size_t>(from), number);
    if (ring == nullptr) return {};
    populate(*ring);
    const node::PayloadConsumer consumer(*ring);
    consumer.be_ready();
    return consumer;
}

bool PayloadRings::bind_again() {
    std::lock_guard guard(lock_);
    for (std::size_t number = 0; number < taken_.size(); ++number) {
        node::PayloadRing* ring = rings_.payload_ring(static_cast<std::size_t>(rank_), number);
        if (ring == nullptr) return false;
        taken_[number]->bind(*ring);
    }
    return true;
}

}  // namespace heddle::p2p
