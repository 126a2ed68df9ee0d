// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Queues of receives and of messages, linked through the entries: first in, first out. Any entry
/// can be taken out without a search.
///
/// A lane says which entries a queue links, by which members, and under which key.
///
/// Links          the first entry's `before` means nothing in a queue. So taking the first out
///                touches no other entry. The table keeps the queue's last entry there
///                (match/table.hpp). The last entry's `next` is null.

#include "core/request.hpp"
#include "match/key.hpp"

namespace heddle::match {

/// The parts that a key leaves open.
enum class Wild : std::uint8_t { none = 0, source = 1, tag = 2, both = 3 };

/// Keys that leave the given parts open.
template <Wild wild>
struct Keys {
    static Key key(std::uint32_t context, std::int32_t source, std::int32_t tag) noexcept {
        return {context, any_sender ? any_source : source, any_label ? any_tag : tag};
    }
    /// Returns whether key() of these is this key, which leaves the same parts open.
    static bool is(Key key, std::uint32_t context, std::int32_t source, std::int32_t tag) noexcept {
        return (any_label || tag == key.tag()) && (any_sender || source == key.source()) &&
            context == key.context();
    }

private:
    static constexpr bool any_sender = wild == Wild::source || wild == Wild::both;
    static constexpr bool any_label = wild == Wild::tag || wild == Wild::both;
};

/// Posted receives.
template <Wild wild = Wild::none>
struct Posted {
    using Entry = core::Request;
    static Entry*& next(Entry& entry) noexcept { return entry.next; }
    static Entry*& before(Entry& entry) noexcept { return entry.before; }
    static Key key(const Entry& entry) noexcept {
        return Keys<wild>::key(entry.context, entry.source, entry.tag);
    }
    static bool has_key(const Entry& entry, Key key) noexcept {
        return Keys<wild>::is(key, entry.context, entry.source, entry.tag);
    }
};

/// Unexpected messages, by one of their links.
template <Link Message::* link, Wild wild = Wild::none>
struct Kept {
    using Entry = Message;
    static Entry*& next(Entry& entry) noexcept { return (entry.*link).after; }
    static Entry*& before(Entry& entry) noexcept { return (entry.*link).before; }
    static Key key(const Entry& entry) noexcept {
        return Keys<wild>::key(entry.envelope.context, entry.envelope.source, entry.envelope.tag);
    }
    static bool has_key(const Entry& entry, Key key) noexcept {
        return Keys<wild>::is(key, entry.envelope.context, entry.envelope.source,
                              entry.envelope.tag);
    }
};

template <class Lane>
struct Queue {
    using Entry = typename Lane::Entry;

    Entry* first = nullptr;
    Entry* last = nullptr;  ///< valid while there is a first one

    void append(Entry& entry) noexcept {
        Lane::next(entry) = nullptr;
        Lane::before(entry) = last;
        (first == nullptr ? first : Lane::next(*last)) = &entry;
        last = &entry;
    }
    void remove_first() noexcept { first = Lane::next(*first); }
    void remove(Entry& entry) noexcept {
        if (&entry == first) return remove_first();
        Entry* const before = Lane::before(entry);
        Entry* const next = Lane::next(entry);
        Lane::next(*before) = next;
        (next == nullptr ? last : Lane::before(*next)) = before;
    }
};

/// Calls visit(entry) for each entry, from the first to the last.
template <class Lane, class Visit>
void for_each(const Queue<Lane>& queue, Visit&& visit) {
    for (typename Lane::Entry* at = queue.first; at != nullptr;
         at = at == queue.last ? nullptr : Lane::next(*at))
        visit(*at);
}

/// mark_taken() notes that a receive is in no queue of a matcher: its `next` is the receive itself.
inline void mark_taken(core::Request& receive) noexcept { receive.next = &receive; }
inline bool is_taken(const core::Request& receive) noexcept { return receive.next == &receive; }

}  // namespace heddle::match
