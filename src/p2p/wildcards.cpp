// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/wildcards.hpp"

#include <algorithm>
#include <bit>
#include <mutex>
#include <utility>

#include "node/context_use.hpp"

namespace heddle::p2p {

void PostedWildcards::put(core::Request& receive) noexcept {
    const std::uint64_t order = receive.order;
    posted_.post(receive, {receive.context, receive.source, match::any_tag});
    receive.order = order;  // not the matcher's: it is compared with exact receives
    counters.any_tag_receives.add();
    counters.most_any_tag_receives.raise_to(counters.any_tag_receives.value());
}

core::Request* PostedWildcards::take_for(const match::Envelope& message,
                                         std::uint64_t before) noexcept {
    core::Request* first = posted_.posted_for({message.context, message.source, match::any_tag});
    if (first == nullptr || first->order > before) return nullptr;
    posted_.take_posted(*first);
    counters.any_tag_receives.subtract();
    return first;
}

bool PostedWildcards::cancel(core::Request& receive) noexcept {
    if (!posted_.cancel(receive)) return false;
    counters.any_tag_receives.subtract();
    return true;
}

std::vector<core::Request*> PostedWildcards::of_class(std::uint32_t context) {
    std::vector<core::Request*> found;
    posted_.each_posted([&](const core::Request& receive) {
        if (node::class_of(receive.context) == node::class_of(context))
            // Entries of the list, which may change them.
            found.push_back(const_cast<core::Request*>(&receive));
    });
    std::sort(found.begin(), found.end(),
              [](const core::Request* a, const core::Request* b) { return a->order < b->order; });
    return found;
}

void PostedWildcards::add_to(tool::Values& sums) noexcept {
    sums += counters;
    sums += posted_.searches().total;
    sums[tool::CounterIndex::posted_receives] += posted_.counters().posted_receives.value();
}

void Wildcards::append(const instance::AllInstances&, core::Request& receive,
                       bool ordered) noexcept {
    std::lock_guard guard(list_lock_);
    // Remembered for note_taken(); receives have no other use for it.
    receive.synchronous = ordered;
    put(receive);
}

/// Posts a wildcard. The instances' locks, still held, publish it.
void Wildcards::put(core::Request& receive) noexcept {
    posted_.put(receive);
    if (receive.synchronous) count_reason(receive.context, +1);
    add_to_count(+1);
}

void Wildcards::move_to(const instance::AllInstances&, PostedWildcards& place,
                        std::uint32_t context) {
    std::lock_guard guard(list_lock_);
    for (core::Request* receive : posted_.of_class(context)) {
        posted_.cancel(*receive);
        note_taken(*receive);
        place.put(*receive);
    }
}

void Wildcards::move_from(const instance::AllInstances&, PostedWildcards& place,
                          std::uint32_t context) {
    std::lock_guard guard(list_lock_);
    for (core::Request* receive : place.of_class(context)) {
        place.cancel(*receive);
        put(*receive);
    }
}

core::Request* Wildcards::take_for(const match::Envelope& message, std::uint64_t before) noexcept {
    std::lock_guard guard(list_lock_);
    core::Request* first = posted_.take_for(message, before);
    if (first != nullptr) note_taken(*first);
    return first;
}

bool Wildcards::cancel(core::Request& receive) noexcept {
    std::lock_guard guard(list_lock_);
    if (!posted_.cancel(receive)) return false;
    note_taken(receive);
    return true;
}

void Wildcards::add_to(tool::Values& sums) noexcept {
    sums += counters;
    posted_.add_to(sums);
}

void Wildcards::add_to(tool::Values& sums, std::uint32_t context) {
    std::lock_guard guard(list_lock_);
    posted_.searches().add_to(sums, context);
}

void Wildcards::forget(std::uint32_t context) noexcept {
    std::lock_guard guard(list_lock_);
    posted_.searches().forget(context);
}

void Wildcards::demand_order(std::uint32_t context, int change) noexcept {
    std::lock_guard guard(list_lock_);
    count_reason(context, change);
}

void Wildcards::order_deferred(const instance::AllInstances&, std::uint64_t contexts) noexcept {
    std::lock_guard guard(list_lock_);
    const std::uint64_t changed = std::exchange(deferred_, contexts) ^ contexts;
    for (std::uint64_t left = changed; left != 0; left &= left - 1)
        set_filter(static_cast<std::uint32_t>(std::countr_zero(left)));
}

void Wildcards::count_reason(std::uint32_t context, int change) noexcept {
    const std::uint32_t place = context & 63;
    ordered_[place] += static_cast<std::uint32_t>(change);
    set_filter(place);
}

void Wildcards::set_filter(std::uint32_t place) noexcept {
    const std::uint64_t bit = std::uint64_t{1} << place;
    const std::uint64_t filter = filter_.load(relaxed);
    filter_.store(ordered_[place] != 0 || (deferred_ & bit) != 0 ? filter | bit : filter & ~bit,
                  relaxed);
}

void Wildcards::add_to_count(int change) noexcept {
    count_.store(count_.load(relaxed) + static_cast<std::uint32_t>(change), relaxed);
}

void Wildcards::note_taken(const core::Request& receive) noexcept {
    if (receive.synchronous) count_reason(receive.context, -1);
    add_to_count(-1);
}

}  // namespace heddle::p2p
