// SPDX-License-Identifier: BSD-3-Clause
#include "match/hash.hpp"

#include <algorithm>
#include <bit>

#include "match/links.hpp"
#include "platform/cpu.hpp"

namespace heddle::match {

HashMatcher::HashMatcher()
    : HashMatcher(platform::ticks() * 0x9e3779b97f4a7c15U ^ reinterpret_cast<std::uintptr_t>(this)) {}

HashMatcher::Queue* HashMatcher::search(Envelope key) noexcept {
    if (slots_ == 0) return nullptr;
    std::uint64_t steps = 1;
    for (std::size_t i = hash(key) & (slots_ - 1);; i = (i + 1) & (slots_ - 1), ++steps) {
        const bool found = table_[i].used && same(table_[i].key, key);
        if (table_[i].used && !found) continue;
        note_search(counters, steps);
        return found ? latest_ = &table_[i] : nullptr;
    }
}

HashMatcher::Queue& HashMatcher::search_or_add(Envelope key) noexcept {
    if (Queue* found = search(key)) return *found;
    if (used_ * 2 >= slots_) rebuild();
    std::size_t i = hash(key) & (slots_ - 1);
    while (table_[i].used) i = (i + 1) & (slots_ - 1);
    ++used_;
    table_[i].key = key;
    table_[i].used = true;
    return *(latest_ = &table_[i]);
}

void HashMatcher::rebuild() noexcept {
    constexpr std::size_t fewest = 32;
    const auto live = static_cast<std::size_t>(std::count_if(
        table_.get(), table_.get() + slots_, [](const Queue& q) { return q.holds_something(); }));
    const std::size_t slots = std::max(fewest, std::bit_ceil((live + 1) * 4));
    auto table = std::make_unique<Queue[]>(slots);
    for (std::size_t k = 0; k < slots_; ++k) {
        if (!table_[k].holds_something()) continue;
        std::size_t i = hash(table_[k].key) & (slots - 1);
        while (table[i].used) i = (i + 1) & (slots - 1);
        table[i] = table_[k];
    }
    table_ = std::move(table);
    slots_ = slots;
    used_ = live;
    latest_ = nullptr;
}

core::Request* HashMatcher::arrive_at_either(Envelope envelope) noexcept {
    core::Request* first = posted_for(envelope);
    if (first != nullptr) take_posted(*first);
    return first;
}

core::Request* HashMatcher::earlier(core::Request* exact, const Envelope& envelope) noexcept {
    Queue* any = search({envelope.context, any_source, envelope.tag});
    core::Request* other = any == nullptr ? nullptr : any->receives;
    if (exact == nullptr || other == nullptr) return exact == nullptr ? other : exact;
    return exact->order < other->order ? exact : other;
}

void HashMatcher::keep(Message& message) noexcept {
    const Envelope& key = message.envelope;
    Queue& exact = queue_of(key);
    append<&Message::exact>(exact.messages, exact.last_message, message);
    Queue& any = queue_of({key.context, any_source, key.tag});
    append<&Message::any_source>(any.messages, any.last_message, message);
    append<&Message::arrival>(first_arrival_, last_arrival_, message);
    note_kept(counters);
}

void HashMatcher::take(Message& message) noexcept {
    const Envelope& key = message.envelope;
    Queue& exact = *lookup(key);
    remove<&Message::exact>(exact.messages, exact.last_message, message);
    Queue& any = *lookup({key.context, any_source, key.tag});
    remove<&Message::any_source>(any.messages, any.last_message, message);
    remove<&Message::arrival>(first_arrival_, last_arrival_, message);
    counters.unexpected_queue.subtract();
}

Message* HashMatcher::find(const Pattern& pattern) noexcept {
    if (pattern.tag != any_tag) {
        Queue* queue = lookup(pattern);
        return queue == nullptr ? nullptr : queue->messages;
    }
    std::uint64_t steps = 0;
    Message* message = first_arrival_;
    for (; message != nullptr; message = message->arrival.after) {
        ++steps;
        if (accepts(pattern, message->envelope)) break;
    }
    note_search(counters, steps);
    return message;
}

bool HashMatcher::cancel(core::Request& receive) noexcept {
    Queue* queue = lookup({receive.context, receive.source, receive.tag});
    if (queue == nullptr) return false;
    core::Request* before = nullptr;
    for (core::Request* at = queue->receives; at != nullptr; before = at, at = at->next) {
        if (at != &receive) continue;
        (before == nullptr ? queue->receives : before->next) = receive.next;
        if (queue->last_receive == &receive) queue->last_receive = before;
        if (receive.source == any_source) --any_source_receives_;
        note_posted(counters);
        counters.posted_receives.subtract();
        return true;
    }
    return false;
}

}  // namespace heddle::match
