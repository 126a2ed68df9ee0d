// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/ring.hpp"

namespace heddle::transport::shm {

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
    for (std::size_t i = 1; i < cells; ++i) {
        auto carried = carried_payload_[(tail_ + i) & (ring_slots - 1)];
        if (!carried) ++payload_cells_;
        carried = true;
    }
}

void Producer::wipe(std::uint64_t position) noexcept {
    const std::size_t place = position & (ring_slots - 1);
    if (!carried_payload_[place]) return;
    // No message here has this number before all others have had their turn. R1 orders it before the message
    // before it.
    cells_[place].shared_sequence().store(static_cast<std::uint32_t>(position), relaxed);
    carried_payload_[place] = false;
    --payload_cells_;
}

}  // namespace heddle::transport::shm
