// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Matching by lists of one source each, as Open MPI's ob1 does (P4, 2.1). Receives of each
/// (context, source) are in the order of their posts. Those with MPI_ANY_SOURCE have a list of
/// their own for each context. Messages have a list for each (context, source). Lists are searched
/// from the front.
///
/// Open MPI finds lists in an array as long as the communicator. Here a table has the lists that
/// are not empty, so that memory grows with the sources in use.

#include <string_view>

#include "match/linear_search.hpp"
#include "match/matcher.hpp"
#include "match/table.hpp"
#include "platform/cpu.hpp"

namespace heddle::match {

/// Lists by (context, source). The latest one is open: an entry found in it is taken out without a
/// search.
template <class Lane>
class ListsBySource {
public:
    explicit ListsBySource(const KeyHash& hash) noexcept : hash_(hash), table_(hash) {}

    Queue<Lane>& of(std::uint32_t context, std::int32_t source) noexcept {
        if (const Key key(context, source, any_tag); key != key_) reopen(key);
        return open_;
    }
    /// Calls visit(entry) for each entry.
    template <class Visit>
    void each(Visit&& visit) const {
        for_each(open_, visit);
        table_.each([&](const Queue<Lane>& queue) { for_each(queue, visit); });
    }
    std::size_t memory() const noexcept { return table_.memory(); }

private:
    void reopen(Key key) noexcept {
        if (open_.first != nullptr) table_.add(hash_(key_), open_);
        std::uint64_t compared = 0;
        open_ = table_.take(hash_(key), key, compared);
        key_ = key;
    }

    const KeyHash& hash_;
    Table<Lane> table_;
    Key key_{0, 0, 0};  ///< no list has this key: its tag is not open
    Queue<Lane> open_;
};

class SourceMatcher : public LinearSearch<SourceMatcher> {
public:
    static constexpr std::string_view name = "source";

    SourceMatcher() noexcept : hash_(platform::ticks() ^ reinterpret_cast<std::uintptr_t>(this)) {}
    SourceMatcher(const SourceMatcher&) = delete;
    SourceMatcher& operator=(const SourceMatcher&) = delete;

    core::Request* posted_for(const Envelope& envelope) noexcept {
        std::uint64_t steps = 0;
        core::Request* first = posted_.of(envelope.context, envelope.source).first;
        while (first != nullptr && (++steps, first->tag != envelope.tag)) first = first->next;
        core::Request* other = any_source_.of(envelope.context, any_source).first;
        while (other != nullptr && (first == nullptr || other->order < first->order)) {
            ++steps;
            if (other->tag == envelope.tag) {
                first = other;
                break;
            }
            other = other->next;
        }
        searches.note(envelope.context, steps);
        return first;
    }
    void keep(Message& message) noexcept {
        list_of(message).append(message);
        arrivals_.append(message);
        note_kept(counters);
    }
    void take(Message& message) noexcept {
        list_of(message).remove(message);
        arrivals_.remove(message);
        counters.unexpected_queue.subtract();
    }
    /// Searches all messages if the source is MPI_ANY_SOURCE, since arrivals have an order among
    /// sources.
    Message* find(const Pattern& pattern) noexcept {
        if (arrivals_.first == nullptr) return nullptr;
        if (pattern.source == any_source)
            return search(arrivals_.first, pattern, [](Message& at) { return at.arrival.after; });
        return search(kept_.of(pattern.context, pattern.source).first, pattern,
                      [](Message& at) { return at.exact.after; });
    }
    template <class Visit>
    void each_posted(Visit&& visit) const {
        posted_.each(visit);
        any_source_.each(visit);
    }
    template <class Visit>
    void each_kept(Visit&& visit) const {
        for_each(arrivals_, visit);
    }
    /// Returns the bytes besides this object.
    std::size_t memory() const noexcept {
        return posted_.memory() + any_source_.memory() + kept_.memory();
    }

private:
    friend LinearSearch<SourceMatcher>;

    using PostedFrom = Posted<Wild::tag>;
    using KeptFrom = Kept<&Message::exact, Wild::tag>;

    Queue<PostedFrom>& list_of(const core::Request& receive) noexcept {
        return (receive.source == any_source ? any_source_ : posted_)
            .of(receive.context, receive.source);
    }
    Queue<KeptFrom>& list_of(const Message& message) noexcept {
        return kept_.of(message.envelope.context, message.envelope.source);
    }
    template <class After>
    Message* search(Message* at, const Pattern& pattern, After after) noexcept {
        std::uint64_t steps = 0;
        while (at != nullptr && (++steps, !accepts(pattern, at->envelope))) at = after(*at);
        searches.note(pattern.context, steps);
        return at;
    }

    KeyHash hash_;
    ListsBySource<PostedFrom> posted_{hash_};
    ListsBySource<PostedFrom> any_source_{hash_};
    ListsBySource<KeptFrom> kept_{hash_};
    Queue<Kept<&Message::arrival>> arrivals_;
};
static_assert(Matcher<SourceMatcher>);

}  // namespace heddle::match
