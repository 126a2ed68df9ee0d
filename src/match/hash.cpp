// SPDX-License-Identifier: BSD-3-Clause
#include "match/hash.hpp"

#include <cassert>
#include <limits>
#include <new>
#include <utility>
#include <vector>

#include "platform/cpu.hpp"

namespace heddle::match {

HashMatcher::HashMatcher()
    : HashMatcher(platform::ticks() * 0x9e3779b97f4a7c15U ^
                  reinterpret_cast<std::uintptr_t>(this)) {}

namespace {
/// Source of the queue that is open at first, which no receive or message has.
constexpr std::int32_t nobody = std::numeric_limits<std::int32_t>::min();
}  // namespace

HashMatcher::HashMatcher(std::uint64_t seed, std::uint32_t most_buckets) noexcept
    : exact_{{0, nobody, 0, 0, {}}, {}},
      any_source_{0, nobody, 0, 0, {}},
      hash_(seed),
      posted_(hash_, most_buckets),
      kept_(hash_, most_buckets) {}

void HashMatcher::report(std::uint32_t context) noexcept {
    reported_ |= node::class_bit(context);
    raise_order(reports_->meet(context));
}

/// Puts the open queue away, and opens that of another key, which may be empty.
inline void HashMatcher::reopen_in_line(Key key) noexcept {
    if (exact_.receives.first != nullptr)
        posted_.add(exact_.hash, exact_.receives);
    else if (exact_.messages.first != nullptr)
        kept_.add(exact_.hash, exact_.messages);
    const std::uint32_t hash = hash_(key);
    note_context(key.context());
    exact_.set(key, hash);
    exact_.receives.first = nullptr;
    exact_.messages.first = nullptr;
    if (posted_.empty() && kept_.empty()) return;
    std::uint64_t compared = 0;
    if (!posted_.empty()) exact_.receives = posted_.take(hash, key, compared);
    if (exact_.receives.first == nullptr && !kept_.empty())
        exact_.messages = kept_.take(hash, key, compared);
    searches.note_lookup(key.context(), compared);
}

void HashMatcher::reopen(Key key) noexcept { reopen_in_line(key); }

void HashMatcher::reopen_any_source(Key key) noexcept {
    if (any_source_.receives.first != nullptr) posted_.add(any_source_.hash, any_source_.receives);
    const std::uint32_t hash = hash_(key);
    note_context(key.context());
    any_source_.set(key, hash);
    any_source_.receives.first = nullptr;
    if (posted_.empty()) return;
    std::uint64_t compared = 0;
    any_source_.receives = posted_.take(hash, key, compared);
    searches.note_lookup(key.context(), compared);
}

Message* HashMatcher::post_elsewhere(core::Request& receive, Key key) noexcept {
    if (key.source() == any_source) return post_any_source(receive, key);
    reopen_in_line(key);
    if (exact_.messages.first != nullptr) return take_first(receive);
    receive.order = ++order_;
    exact_.receives.append(receive);
    counters.posted_receives.add();
    return nullptr;
}

Message* HashMatcher::post_any_source(core::Request& receive, Key key) noexcept {
    if (!keeps_nothing())
        if (Message* message = first_kept_with_wildcard(key)) {
            take(*message);
            mark_taken(receive);
            return message;
        }
    OpenPosted& queue = open_any_source(key);
    receive.order = ++order_;
    queue.receives.append(receive);
    ++any_source_receives_;
    counters.posted_receives.add();
    return nullptr;
}

/// Notes that the message is out of the queue of its key.
inline void HashMatcher::note_taken(Message& message) noexcept {
    if (index_ != nullptr) [[unlikely]]
        index_->note_taken(message);
    counters.unexpected_queue.subtract();
}

/// Takes the first message of the open queue for this receive.
Message* HashMatcher::take_first(core::Request& receive) noexcept {
    Message* message = exact_.messages.first;
    exact_.messages.remove_first();
    note_taken(*message);
    mark_taken(receive);
    return message;
}

core::Request* HashMatcher::first_posted(Key key) noexcept {
    core::Request* first = open(key).receives.first;
    if (any_source_receives_ == 0) [[likely]]
        return first;
    core::Request* other = open_any_source(key.any_source()).receives.first;
    if (first == nullptr || other == nullptr) return first == nullptr ? other : first;
    return first->order < other->order ? first : other;
}

/// Takes out the receive of a queue that posted_for() has opened.
void HashMatcher::take_posted(core::Request& receive) noexcept {
    OpenPosted& open = receive.source == any_source ? any_source_ : exact_;
    assert(open.receives.first == &receive);
    open.receives.remove_first();
    if (receive.source == any_source) --any_source_receives_;
    note_posted(counters);
    counters.posted_receives.subtract();
    mark_taken(receive);
}

core::Request* HashMatcher::arrive_elsewhere(Key key) noexcept {
    if (any_source_receives_ == 0) [[likely]] {
        reopen_in_line(key);
        if (exact_.receives.first != nullptr) note_posted(counters);
        return take_first_posted();
    }
    core::Request* first = first_posted(key);
    if (first != nullptr) take_posted(*first);
    return first;
}

void HashMatcher::keep(Message& message) noexcept {
    if (!exact_.is(message.envelope)) [[unlikely]]
        return keep_elsewhere(message);
    exact_.messages.append(message);
    message.arrived = ++order_;
    note_kept(counters);
    if (index_ != nullptr) [[unlikely]]
        index_->note_kept(message);
}

void HashMatcher::keep_elsewhere(Message& message) noexcept {
    reopen(Key(message.envelope));
    keep(message);
}

void HashMatcher::take(Message& message) noexcept {
    const Key key(message.envelope);
    if (exact_.is(key))
        exact_.messages.remove(message);
    else
        kept_.remove(hash_(key), message);
    note_taken(message);
}

Message* HashMatcher::first_kept(Key key) noexcept {
    if (key.source() == any_source || key.tag() == any_tag) return first_kept_with_wildcard(key);
    return open(key).messages.first;
}

Message* HashMatcher::first_kept_with_wildcard(Key key) noexcept {
    std::uint64_t compared = 0;
    Message* first = nullptr;
    if (index_ == nullptr) index_ = index_kept();
    if (index_ != nullptr) [[likely]]
        first = index_->find(key, compared);
    else {
        const Pattern pattern{key.context(), key.source(), key.tag()};
        each_kept([&](Message& message) {
            ++compared;
            if (accepts(pattern, message.envelope) &&
                (first == nullptr || message.arrived < first->arrived))
                first = &message;
        });
    }
    searches.note_lookup(key.context(), compared);
    return first;
}

/// Returns nullptr if there is no memory.
std::unique_ptr<WildcardIndex> HashMatcher::index_kept() const noexcept {
    try {
        std::vector<Message*> kept;
        each_kept([&](Message& message) { kept.push_back(&message); });
        return std::make_unique<WildcardIndex>(hash_, kept_.most(), std::move(kept));
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}

bool HashMatcher::cancel(core::Request& receive) noexcept {
    if (is_taken(receive)) return false;
    const Key key = Posted<>::key(receive);
    (key.source() == any_source ? open_any_source(key) : open(key)).receives.remove(receive);
    if (key.source() == any_source) --any_source_receives_;
    note_posted(counters);
    counters.posted_receives.subtract();
    mark_taken(receive);
    receive.bytes = 0;
    return true;
}

}  // namespace heddle::match
