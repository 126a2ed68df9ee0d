// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/wildcards.hpp"

#include <mutex>

namespace heddle::p2p {

void Wildcards::append(core::Request& receive, bool ordered) noexcept {
    std::lock_guard guard(list_lock_);
    receive.next = nullptr;
    receive.synchronous = ordered;  // remembered for unlink(); receives have no other use for it
    (last_ == nullptr ? first_ : last_->next) = &receive;
    last_ = &receive;
    if (ordered) count_reason(receive.context, +1);
    counters.any_tag_receives.add();
    counters.most_any_tag_receives.raise_to(counters.any_tag_receives.value());
    count_.fetch_add(1, relaxed);  // the instances' locks, still held, publish it
}

core::Request* Wildcards::take_for(const match::Envelope& message, std::uint64_t before) noexcept {
    std::lock_guard guard(list_lock_);
    core::Request* previous = nullptr;
    for (core::Request* at = first_; at != nullptr && at->order < before; previous = at, at = at->next) {
        if (!match::accepts({at->context, at->source, match::any_tag}, message)) continue;
        unlink(previous, *at);
        return at;
    }
    return nullptr;
}

bool Wildcards::cancel(core::Request& receive) noexcept {
    std::lock_guard guard(list_lock_);
    core::Request* previous = nullptr;
    for (core::Request* at = first_; at != nullptr; previous = at, at = at->next) {
        if (at != &receive) continue;
        unlink(previous, receive);
        return true;
    }
    return false;
}

void Wildcards::demand_order(std::uint32_t context, int change) noexcept {
    std::lock_guard guard(list_lock_);
    count_reason(context, change);
}

void Wildcards::count_reason(std::uint32_t context, int change) noexcept {
    const std::uint32_t place = context & 63;
    ordered_[place] += static_cast<std::uint32_t>(change);
    const std::uint64_t bit = std::uint64_t{1} << place;
    if (ordered_[place] != 0) filter_.fetch_or(bit, relaxed);
    else filter_.fetch_and(~bit, relaxed);
}

void Wildcards::unlink(core::Request* before, core::Request& receive) noexcept {
    (before == nullptr ? first_ : before->next) = receive.next;
    if (last_ == &receive) last_ = before;
    if (receive.synchronous) count_reason(receive.context, -1);
    counters.any_tag_receives.subtract();
    count_.fetch_sub(1, relaxed);
}

}  // namespace heddle::p2p
