// SPDX-License-Identifier: BSD-3-Clause
#include "node/ring.hpp"

namespace heddle::node {

Cell* Producer::reserve_at_start(std::size_t cells) noexcept {
    const std::size_t place = tail_ & (ring_slots - 1);
    const std::size_t left = ring_slots - place;
    if (!has_room(left + cells)) return nullptr;
    Cell& cell = cells_[place];
    cell.kind = filler;
    cell.cells = static_cast<std::uint16_t>(left);
    wipe(tail_ + left);
    cell.shared_sequence().store(static_cast<std::uint32_t>(tail_ + 1), release);  // R1
    tail_ += left;
    return &cells_[0];
}

Cell* Producer::reserve_in_spite(std::size_t cells) noexcept {
    Cell* cell = reserve(cells);
    const std::uint64_t mark = seen_head_ & pressure;
    if (cell != nullptr || mark == 0) return cell;
    seen_head_ &= ~pressure;  // just read by reserve()
    cell = reserve(cells);
    seen_head_ |= mark;
    return cell;
}

void Producer::note_payload(std::size_t cells) noexcept {
    for (std::size_t i = 1; i < cells; ++i) wipe_later((tail_ + i) & (ring_slots - 1));
}

void Producer::wipe_later(std::size_t place) noexcept {
    auto carried = carried_payload_[place];
    if (!carried) ++payload_cells_;
    carried = true;
}

void Producer::wipe(std::uint64_t position) noexcept {
    const std::size_t place = position & (ring_slots - 1);
    if (!carried_payload_[place]) return;
    // No message here has this number before all others have had their turn. R1 orders this store
    // before the message before it.
    cells_[place].shared_sequence().store(static_cast<std::uint32_t>(position), relaxed);
    carried_payload_[place] = false;
    --payload_cells_;
}

RingPages Producer::idle_pages() const noexcept {
    // A2: pairs with R2. The cells before it have been read.
    const std::uint64_t head = control_->head.load(acquire) & ~pressure;
    RingPages idle;
    idle.set();
    const auto keep = [&](std::uint64_t position) {
        idle.reset((position & (ring_slots - 1)) / page_cells);
    };
    for (std::uint64_t at = head; at < tail_; at += page_cells - at % page_cells) keep(at);
    // A consumer that polls would have the page back at once. And a zero must not match the
    // sequence at the tail.
    const bool zero_matches = static_cast<std::uint32_t>(tail_ + 1) == 0;
    if (zero_matches || control_->hot.load(relaxed) != 0) keep(tail_);
    return idle;
}

void Producer::note_dropped(RingPages pages) noexcept {
    // The last cell has the sequence 0, once in so many rounds.
    if (pages.test(ring_pages - 1)) wipe_later(ring_slots - 1);
}

}  // namespace heddle::node
