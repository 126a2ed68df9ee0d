// SPDX-License-Identifier: BSD-3-Clause
#include "objects/node_memory.hpp"

#include <new>
#include <utility>

#include "platform/sanitizers.hpp"

namespace heddle::objects {

NodeMemory::Piece::Piece(const node::Segments& segments, std::size_t bytes) noexcept
    : segments_(segments), segment_(segments.take(bytes)) {
    if (!segment_) return;
    try {
        mapping_ = segments.map(segment_);
    } catch (const std::bad_alloc&) {}
    if (mapping_) platform::begin_holding_pointers(mapping_->address(), mapping_->bytes());
}

NodeMemory::Piece::~Piece() {
    if (mapping_) platform::end_holding_pointers(mapping_->address(), mapping_->bytes());
    mapping_ = nullptr;
    if (segment_) segments_.give(segment_);
}

void* NodeMemory::take(std::size_t bytes) noexcept {
    if (!segments_.can_spare(bytes)) return nullptr;
    try {
        const Holder piece = std::make_shared<const Piece>(segments_, bytes);
        if (!*piece) return nullptr;
        std::lock_guard guard(lock_);
        pieces_.emplace(piece->begin(), piece);
        return piece->begin();
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}

bool NodeMemory::give(void* memory) noexcept {
    Holder piece;  // destroyed after the guard's unlock
    std::lock_guard guard(lock_);
    const auto found = pieces_.find(static_cast<const std::byte*>(memory));
    if (found == pieces_.end()) return false;
    piece = std::move(found->second);
    pieces_.erase(found);
    return true;
}

NodeMemory::Holder NodeMemory::piece_with(const void* memory, std::size_t bytes) const {
    const auto* begin = static_cast<const std::byte*>(memory);
    std::lock_guard guard(lock_);
    auto after = pieces_.upper_bound(begin);
    if (after == pieces_.begin()) return nullptr;
    const Holder& piece = std::prev(after)->second;
    const std::size_t offset = static_cast<std::size_t>(begin - piece->begin());
    const std::size_t length = piece->segment().bytes;
    return offset <= length && bytes <= length - offset ? piece : nullptr;
}

}  // namespace heddle::objects
