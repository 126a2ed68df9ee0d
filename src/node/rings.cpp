// SPDX-License-Identifier: BSD-3-Clause
#include "node/rings.hpp"

namespace heddle::node {

Rings::Rings(const platform::SharedObject& object, std::byte* head, const Layout& layout,
             std::size_t processes, std::size_t payload_rings, const Mailboxes& mailboxes,
             const Segments& segments)
    : object_(object),
      head_(head),
      layout_(layout),
      processes_(processes),
      payload_rings_each_(payload_rings),
      mailboxes_(mailboxes),
      segments_(segments),
      outgoing_(processes),
      payload_rings_(processes * payload_rings) {}

bool Rings::map_all() {
    all_ = object_.map(layout_.rings, layout_.stages - layout_.rings);
    return static_cast<bool>(all_);
}

bool Rings::map(std::size_t me, bool outgoing) {
    if (all_) return true;
    me_ = me;
    if (!incoming_) incoming_ = object_.map(offset_of(0, me), processes_ * layout_.pair_bytes);
    if (!incoming_) return false;
    for (std::size_t to = 0; outgoing && to < processes_; ++to)
        if (!reach(me, to)) return false;
    return true;
}

bool Rings::reach(std::size_t from, std::size_t to) const {
    if (all_ || from == to) return true;
    const std::lock_guard guard(lock_);
    platform::Mapping& rings = outgoing_[to];
    if (!rings) rings = object_.map(offset_of(from, to), layout_.pair_bytes);
    return static_cast<bool>(rings);
}

void Rings::unmap() noexcept {
    incoming_ = {};
    for (platform::Mapping& one : outgoing_) one = {};
    for (platform::Mapping& one : payload_rings_) one = {};
    further_offers_.clear();
}

bool Rings::drop_pages(std::size_t from, std::size_t to, std::size_t instance,
                       RingPages pages) const noexcept {
    const std::size_t begin = offset_of(from, to) + instance * ring_pages * page_bytes;
    bool dropped = true;
    for (std::size_t page = 0, end = 0; page < ring_pages; page = end + 1) {
        for (end = page; end < ring_pages && pages.test(end);) ++end;
        if (end != page)
            dropped =
                dropped && object_.drop_pages(begin + page * page_bytes, (end - page) * page_bytes);
    }
    return dropped;
}

PayloadRing* Rings::payload_ring(std::size_t owner, std::size_t number) const {
    const std::lock_guard guard(lock_);
    const std::size_t index = owner * payload_rings_each_ + number;
    platform::Mapping& ring = payload_rings_[index];
    if (!ring)
        ring =
            object_.map(layout_.payload_rings + index * sizeof(PayloadRing), sizeof(PayloadRing));
    return static_cast<PayloadRing*>(ring.address());
}

FurtherOffers* Rings::map_offers(std::uint64_t place) const noexcept {
    const std::lock_guard guard(offers_lock_);
    try {
        auto& mapping = further_offers_[place];
        if (!mapping) mapping = segments_.map({place, sizeof(FurtherOffers)});
        return mapping ? static_cast<FurtherOffers*>(mapping->address()) : nullptr;
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}

FurtherOffers* Rings::further_offers(std::size_t from, std::size_t to, std::size_t instance,
                                     std::size_t block) const noexcept {
    // Relaxed: the message that names the block has published this.
    return map_offers(ring_offers(from, to, instance).further[block - 1].load(relaxed));
}

bool Rings::add_offers(std::size_t from, std::size_t to, std::size_t instance,
                       std::size_t block) const noexcept {
    std::atomic<std::uint64_t>& place = ring_offers(from, to, instance).further[block - 1];
    const Segment segment = segments_.take(sizeof(FurtherOffers));
    if (!segment) return false;
    if (map_offers(segment.offset) == nullptr) {
        segments_.give(segment);
        return false;
    }
    place.store(segment.offset, relaxed);
    return true;
}

bool Rings::reach_offers(std::size_t from, std::size_t to, std::size_t instance) const noexcept {
    for (const std::atomic<std::uint64_t>& place : ring_offers(from, to, instance).further) {
        const std::uint64_t offset = place.load(relaxed);
        if (offset == 0) break;
        if (map_offers(offset) == nullptr) return false;
    }
    return true;
}

}  // namespace heddle::node
