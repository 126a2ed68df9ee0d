// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Matching by linear search, one list of receives and one of messages, as MPICH does (P4, 2.1).

#include <string_view>

#include "match/matcher.hpp"
#include "match/queue.hpp"
#include "match/searching.hpp"

namespace heddle::match {

class ListMatcher : public Searching<ListMatcher> {
public:
    static constexpr std::string_view name = "list";

    core::Request* posted_for(const Envelope& envelope) noexcept {
        std::uint64_t steps = 0;
        core::Request* at = receives_.first;
        while (at != nullptr && (++steps, !accepts({at->context, at->source, at->tag}, envelope)))
            at = at->next;
        note_search(counters, steps);
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
    Message* first_message() noexcept { return messages_.first; }
    Message* find(const Pattern& pattern) noexcept {
        std::uint64_t steps = 0;
        Message* at = messages_.first;
        while (at != nullptr && (++steps, !accepts(pattern, at->envelope))) at = at->arrival.after;
        note_search(counters, steps);
        return at;
    }
    template <class Visit>
    void each_context(Visit&& visit) const {
        for (const core::Request* at = receives_.first; at != nullptr; at = at->next) visit(at->context);
        for (const Message* at = messages_.first; at != nullptr; at = at->arrival.after) visit(at->envelope.context);
    }

private:
    friend Searching<ListMatcher>;

    Queue<Posted<>>& list_of(const core::Request&) noexcept { return receives_; }

    Queue<Posted<>> receives_;
    Queue<Kept<&Message::arrival>> messages_;
};
static_assert(Matcher<ListMatcher>);

}  // namespace heddle::match
