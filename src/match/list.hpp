// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Matching by linear search, one list of receives and one of messages, as MPICH does (P4, 2.1).

#include <string_view>

#include "match/linear_search.hpp"
#include "match/matcher.hpp"
#include "match/queue.hpp"

namespace heddle::match {

class ListMatcher : public LinearSearch<ListMatcher> {
public:
    static constexpr std::string_view name = "list";

    core::Request* posted_for(const Envelope& envelope) noexcept {
        std::uint64_t steps = 0;
        core::Request* at = receives_.first;
        while (at != nullptr && (++steps, !accepts({at->context, at->source, at->tag}, envelope)))
            at = at->next;
        searches.note(envelope.context, steps);
        return at;
    }
    void keep(Message& message) noexcept {
        messages_.append(message);
        note_kept(counters);
    }
    void take(Message& message) noexcept {
        messages_.remove(message);
        counters.unexpected_queue.subtract();
    }
    Message* find(const Pattern& pattern) noexcept {
        std::uint64_t steps = 0;
        Message* at = messages_.first;
        while (at != nullptr && (++steps, !accepts(pattern, at->envelope))) at = at->arrival.after;
        searches.note(pattern.context, steps);
        return at;
    }
    template <class Visit>
    void each_posted(Visit&& visit) const {
        for_each(receives_, visit);
    }
    template <class Visit>
    void each_kept(Visit&& visit) const {
        for_each(messages_, visit);
    }

private:
    friend LinearSearch<ListMatcher>;

    Queue<Posted<>>& list_of(const core::Request&) noexcept { return receives_; }

    Queue<Posted<>> receives_;
    Queue<Kept<&Message::arrival>> messages_;
};
static_assert(Matcher<ListMatcher>);

}  // namespace heddle::match
