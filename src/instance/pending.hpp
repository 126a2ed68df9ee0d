// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Messages of this process that wait for room before they leave.

#include <cstdint>
#include <utility>

#include "core/request.hpp"
#include "match/message.hpp"
#include "node/ring.hpp"

namespace heddle::instance {

struct Pending {
    Pending* next = nullptr;
    match::Envelope envelope{};
    std::uint64_t stamp = 0;
    std::uint8_t kind = 0;
    std::uint8_t prefix_bytes = 0;  ///< of the protocol's own fields
    std::byte prefix[node::inline_payload]{};
    const std::byte* data = nullptr;      ///< the buffer; bytes after the prefix stay the request's
    objects::Datatype* layout = nullptr;  ///< of the buffer; nullptr: dense
    std::uint64_t offset = 0;             ///< packed bytes that have left already
    std::uint64_t bytes = 0;
    core::Request* completes = nullptr;  ///< done once the message is in the ring
    unsigned manifest = 0;               ///< of a streamed message (node/payload_ring.hpp)
};

/// Messages in the order in which they leave. Zeroed memory is an empty list.
class PendingList {
public:
    bool empty() const noexcept { return first_ == nullptr; }
    Pending& front() const noexcept { return *first_; }

    void append(Pending& pending) noexcept {
        pending.next = nullptr;
        (first_ == nullptr ? first_ : last_->next) = &pending;
        last_ = &pending;
    }
    void append(PendingList&& others) noexcept {
        if (others.empty()) return;
        (first_ == nullptr ? first_ : last_->next) = others.first_;
        last_ = others.last_;
        others = {};
    }
    Pending& take_front() noexcept {
        Pending& taken = *first_;
        first_ = std::exchange(taken.next, nullptr);
        return taken;
    }
    /// Returns the first for which `is_it` returns true, or nullptr if there is none.
    template <class IsIt>
    Pending* find_if(IsIt&& is_it) const noexcept {
        Pending* at = first_;
        while (at != nullptr && !is_it(*at)) at = at->next;
        return at;
    }
    /// Does the same, and takes it out of the list.
    template <class IsIt>
    Pending* take_if(IsIt&& is_it) noexcept {
        Pending* before = nullptr;
        for (Pending* at = first_; at != nullptr; before = at, at = at->next) {
            if (!is_it(*at)) continue;
            (before == nullptr ? first_ : before->next) = std::exchange(at->next, nullptr);
            if (last_ == at) last_ = before;
            return at;
        }
        return nullptr;
    }

private:
    Pending* first_ = nullptr;
    Pending* last_ = nullptr;  ///< valid unless the list is empty
};

}  // namespace heddle::instance
