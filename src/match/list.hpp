// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Matching by linear search, one list of receives and one of messages, as MPICH does (P4).

#include <string_view>

#include "match/links.hpp"
#include "match/matcher.hpp"

namespace heddle::match {

class ListMatcher {
public:
    static constexpr std::string_view name = "list";

    Message* post(core::Request& receive, Pattern pattern) noexcept {
        receive.order = ++order_;
        receive.next = nullptr;
        if (Message* message = find(pattern)) {
            take(*message);
            return message;
        }
        *end_ = &receive;
        end_ = &receive.next;
        counters.posted_receives.add();
        return nullptr;
    }
    core::Request* posted_for(const Envelope& envelope) noexcept {
        std::uint64_t steps = 0;
        core::Request* at = receives_;
        for (; at != nullptr; at = at->next) {
            ++steps;
            if (accepts({at->context, at->source, at->tag}, envelope)) break;
        }
        note_search(counters, steps);
        return at;
    }
    void take_posted(core::Request& receive) noexcept { cancel(receive); }
    core::Request* arrive(const Envelope& envelope) noexcept {
        core::Request* first = posted_for(envelope);
        if (first != nullptr) take_posted(*first);
        return first;
    }
    bool cancel(core::Request& receive) noexcept {
        for (core::Request** at = &receives_; *at != nullptr; at = &(*at)->next) {
            if (*at != &receive) continue;
            *at = receive.next;
            if (end_ == &receive.next) end_ = at;
            note_posted(counters);
            counters.posted_receives.subtract();
            return true;
        }
        return false;
    }
    void keep(Message& message) noexcept {
        append<&Message::arrival>(first_, last_, message);
        note_kept(counters);
    }
    void take(Message& message) noexcept {
        remove<&Message::arrival>(first_, last_, message);
        counters.unexpected_queue.subtract();
    }
    Message* first_message() noexcept { return first_; }
    Message* find(const Pattern& pattern) noexcept {
        std::uint64_t steps = 0;
        Message* at = first_;
        for (; at != nullptr; at = at->arrival.after) {
            ++steps;
            if (accepts(pattern, at->envelope)) break;
        }
        note_search(counters, steps);
        return at;
    }
    std::uint64_t raise_order(std::uint64_t least) noexcept {
        if (order_ < least) order_ = least;
        return order_;
    }
    template <class Visit>
    void each_context(Visit&& visit) const {
        for (const core::Request* at = receives_; at != nullptr; at = at->next) visit(at->context);
        for (const Message* at = first_; at != nullptr; at = at->arrival.after) visit(at->envelope.context);
    }

private:
    core::Request* receives_ = nullptr;
    core::Request** end_ = &receives_;
    Message* first_ = nullptr;
    Message* last_ = nullptr;
    std::uint64_t order_ = 0;

public:
    tool::counters::Matching counters;
};
static_assert(Matcher<ListMatcher>);

}  // namespace heddle::match
