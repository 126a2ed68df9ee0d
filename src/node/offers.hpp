// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The messages of one ring that their sender may take back until they are matched
/// (sync/offers.hpp). A ring has as many slots as cells. More messages may be offered at once:
/// those that have left the ring and are not matched. For them the sender adds blocks of slots
/// (sync/offer_cursor.hpp). Each block is a segment, in which pages that no process touches do not
/// exist.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "node/ring.hpp"
#include "sync/native.hpp"
#include "sync/offer_cursor.hpp"
#include "sync/offers.hpp"

namespace heddle::node {

using Offers = sync::BasicOffers<sync::NativeNode, ring_slots>;
using FurtherOffers = sync::BasicOffers<sync::NativeNode, std::size_t{1} << 16>;

/// The offers of a ring. Zeroes are a valid object.
struct RingOffers {
    Offers own;
    /// Offsets of further blocks in the file; 0: there is none. The sender writes them. A message
    /// that is offered there publishes them.
    alignas(cache_line) std::atomic<std::uint64_t> further[sync::OfferCursor::most_further];
};

}  // namespace heddle::node
