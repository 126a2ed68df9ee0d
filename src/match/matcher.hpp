// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Matching of receives and messages within one instance: the posted receive queue (PRQ) and the
/// unexpected message queue (UMQ) of the papers, behind one concept.
///
/// Order          of the receives that accept a message, the one posted first gets it; of the
///                messages that a receive accepts, the one that arrived first (MPI 5.0, 3.5).
///                order() of a posted receive grows with each post, so that the process-wide list of
///                wildcard receives can be compared with what is posted here.
/// Wildcards      post() takes any source, never any tag; find() takes both.
/// Thread safety  none: the instance's lock is held.
/// Ownership      a queue links requests and messages, it does not own them. A request's `next` and
///                `order`, a message's links belong to the matcher while it is queued.

#include <concepts>
#include <cstdint>
#include <string_view>

#include "match/message.hpp"
#include "core/request.hpp"
#include "tool/counters.hpp"

namespace heddle::match {

/// The queue of posted receives is longest just before one is taken out: by arrivals, which need not
/// look each time then.
inline void note_posted(tool::counters::Matching& counters) noexcept {
    counters.most_posted_receives.raise_to(counters.posted_receives.value());
}
inline void note_kept(tool::counters::Matching& counters) noexcept {
    counters.unexpected_messages.add();
    counters.unexpected_queue.add();
    counters.most_unexpected_queue.raise_to(counters.unexpected_queue.value());
}
void note_deep_search(tool::counters::Matching& counters, std::uint64_t steps) noexcept;
/// Nothing to look at is no search. Most look at one entry: that is counted once, and told by
/// add_shallow_searches().
inline void note_search(tool::counters::Matching& counters, std::uint64_t steps) noexcept {
    if (steps == 1) [[likely]] counters.searches_to_1.add();
    else if (steps != 0) note_deep_search(counters, steps);
}
/// Entries looked at so far, and the most that one search has looked at.
inline std::uint64_t steps_of(const tool::counters::Matching& counters) noexcept {
    return counters.search_steps.value() + counters.searches_to_1.value();
}
inline std::uint64_t deepest_of(const tool::counters::Matching& counters) noexcept {
    const std::uint64_t deepest = counters.deepest_search.value();
    return deepest == 0 && counters.searches_to_1.value() != 0 ? 1 : deepest;
}
/// What the sums of instances do not have in them yet.
void add_shallow_searches(tool::Values& sums) noexcept;

template <class M>
concept Matcher = std::default_initializable<M> &&
    requires(M matcher, core::Request& receive, Message& message, const Envelope& envelope,
             std::uint64_t order, void (*visit)(std::uint32_t)) {
        { M::name } -> std::convertible_to<std::string_view>;  // the knob value selecting it
        /// The message that the receive, which holds this pattern, gets, taken out of the queue;
        /// nullptr: the receive is queued.
        { matcher.post(receive, envelope) } noexcept -> std::same_as<Message*>;
        /// The receive that gets a message with this envelope, taken out of the queue; nullptr: none.
        { matcher.arrive(envelope) } noexcept -> std::same_as<core::Request*>;
        /// The same, not taken out.
        { matcher.posted_for(envelope) } noexcept -> std::same_as<core::Request*>;
        /// Takes out what posted_for() has just answered.
        { matcher.take_posted(receive) } noexcept -> std::same_as<void>;
        /// Queues a message that no receive waits for.
        { matcher.keep(message) } noexcept -> std::same_as<void>;
        /// The first queued message that the pattern accepts; nullptr: none.
        { matcher.find(envelope) } noexcept -> std::same_as<Message*>;
        { matcher.take(message) } noexcept -> std::same_as<void>;
        /// Takes a queued receive out; false if it is not queued.
        { matcher.cancel(receive) } noexcept -> std::same_as<bool>;
        /// The message that was kept first; the others follow by their link `arrival`.
        { matcher.first_message() } noexcept -> std::same_as<Message*>;
        /// Lengths and searches; the most posted receives as of the latest note_posted().
        { matcher.counters } -> std::same_as<tool::counters::Matching&>;
        /// All later posts get an order above the given one; answers the current highest.
        { matcher.raise_order(order) } noexcept -> std::same_as<std::uint64_t>;
        /// Calls visit(context id) for everything that is queued, at least once for each id.
        { matcher.each_context(visit) } -> std::same_as<void>;
    };

}  // namespace heddle::match
