// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Matching of receives and messages within one instance: the posted receive queue (PRQ) and the
/// unexpected message queue (UMQ) of the papers, behind one concept.
///
/// Order          of the receives that accept a message, the one posted first gets it; of the
///                messages that a receive accepts, the one that arrived first (MPI 5.0, 3.5).
///                order() of a posted receive grows with each post, so that the process-wide list of
///                wildcard receives can be compared with what is posted here.
/// Wildcards      find() takes any source and any tag. post() takes any source; any tag only where all that
///                is posted has it: then arrive() and posted_for() are asked with any tag, too.
/// Thread safety  none: the instance's lock is held.
/// Ownership      a queue links requests and messages, it does not own them. A request's `next` and
///                `order`, a message's links belong to the matcher while it is queued.

#include <concepts>
#include <cstdint>
#include <string_view>

#include "core/request.hpp"
#include "match/message.hpp"
#include "match/search_counts.hpp"

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

template <class M>
concept Matcher = std::default_initializable<M> &&
    requires(M matcher, core::Request& receive, Message& message, const Envelope& envelope,
             std::uint64_t order, void (*visit_receive)(const core::Request&),
             void (*visit_message)(const Message&)) {
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
        /// Lengths of queues; the most posted receives as of the latest note_posted().
        { matcher.counters } -> std::same_as<tool::counters::Matching&>;
        { matcher.searches } -> std::same_as<SearchCounts&>;
        /// All later posts get an order above the given one; answers the current highest.
        { matcher.raise_order(order) } noexcept -> std::same_as<std::uint64_t>;
        /// Calls visit(receive) for each that is queued.
        { matcher.each_posted(visit_receive) } -> std::same_as<void>;
        /// Calls visit(message) likewise.
        { matcher.each_kept(visit_message) } -> std::same_as<void>;
    };

}  // namespace heddle::match
