// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/payload/idle_rings.hpp"

#include <utility>

#include "sync/parking.hpp"

namespace heddle::p2p {

std::chrono::nanoseconds IdleRings::tend(core::Thread& thread) noexcept {
    if (!stirred_.load(seq_cst)) return sync::no_limit;  // A1
    const std::lock_guard guard(lock_);
    const std::chrono::nanoseconds now = sync::Native::now();
    if (now < due_) return due_ - now;
    if (next_ == nullptr) {
        // Before the look: a later message stirs again.
        stirred_.store(false, seq_cst);
        moved_ = false;
        next_ = pool_.open_channels();
    }
    for (int dropped = 0; next_ != nullptr && dropped < most_at_once; next_ = next_->next_open)
        dropped += look(thread, *next_) ? 1 : 0;
    const bool over = next_ == nullptr;
    due_ = now + (over ? time_ : pause);
    if (over && !moved_ && !stirred_.load(relaxed)) return sync::no_limit;
    stirred_.store(true, relaxed);
    return due_ - now;
}

void IdleRings::drop_all(core::Thread& thread) noexcept {
    if (!are_worth_a_look()) return;
    const std::lock_guard guard(lock_);
    for (auto* channel = pool_.open_channels(); channel != nullptr; channel = channel->next_open) {
        channel->seen_head = channel->ring.given_back();
        if (channel->seen_head != channel->dropped_at) drop(thread, *channel);
    }
}

/// Looks at a ring. Returns true if pages were dropped.
bool IdleRings::look(core::Thread& thread, instance::Channel& channel) noexcept {
    const std::uint64_t head = channel.ring.given_back();
    if (head == channel.dropped_at) return false;
    if (std::exchange(channel.seen_head, head) == head) return drop(thread, channel);
    moved_ = true;
    return false;
}

bool IdleRings::drop(core::Thread& thread, instance::Channel& channel) noexcept {
    channel.dropped_at = channel.seen_head;
    const instance::OutboxHold held(pool_[channel.instance], thread.token);
    const node::RingPages pages = channel.ring.idle_pages();
    if (pages.none() || !possible_.load(relaxed)) return false;
    channel.ring.note_dropped(pages);
    if (!rings_.drop_pages(static_cast<std::size_t>(rank_),
                           static_cast<std::size_t>(channel.process), channel.instance, pages)) {
        possible_.store(false, relaxed);
        return false;
    }
    thread.progress.rings_dropped.add();
    return true;
}

}  // namespace heddle::p2p
