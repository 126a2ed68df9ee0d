// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Matching of receives and messages within one instance: the posted receive queue (PRQ) and the
/// unexpected message queue (UMQ) of the papers, behind one concept.
///
/// Order          among the receives that accept a message, the one posted first gets it. Among the
///                messages that a receive accepts, it gets the one that arrived first (MPI 5.0,
///                3.5). order() of a posted receive grows with each post. So the process-wide list
///                of wildcard receives can be compared with the receives posted here.
/// Wildcards      find() takes any source and any tag. post() takes any source. It takes any tag
///                only if all posted receives have it. Then the arguments of arrive() and
///                posted_for() have any tag, too.
/// Thread safety  none: the instance's lock is held.
/// Ownership      a queue links requests and messages, it does not own them. A request's `next` and
///                `order`, and a message's links belong to the matcher while it is queued.

#include <concepts>
#include <cstdint>
#include <string_view>

#include "core/request.hpp"
#include "match/message.hpp"
#include "match/search_counts.hpp"

namespace heddle::match {

/// Notes the length of the posted receive queue just before a receive is taken out. The queue is
/// longest then, so arrivals need not look each time.
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
        { M::name } -> std::convertible_to<std::string_view>;  // the knob value that selects it
        /// Returns the message that the receive, which holds this pattern, gets. Takes it out of
        /// the queue. Returns nullptr if there is none; the receive is then queued.
        { matcher.post(receive, envelope) } noexcept -> std::same_as<Message*>;
        /// Returns the receive that gets a message with this envelope. Takes it out of the queue.
        /// Returns nullptr if there is none.
        { matcher.arrive(envelope) } noexcept -> std::same_as<core::Request*>;
        /// Returns the same receive, but does not take it out.
        { matcher.posted_for(envelope) } noexcept -> std::same_as<core::Request*>;
        /// Takes out the receive that posted_for() has just returned.
        { matcher.take_posted(receive) } noexcept -> std::same_as<void>;
        /// Queues a message that no receive waits for.
        { matcher.keep(message) } noexcept -> std::same_as<void>;
        /// Returns the first queued message that the pattern accepts, or nullptr if there is none.
        { matcher.find(envelope) } noexcept -> std::same_as<Message*>;
        { matcher.take(message) } noexcept -> std::same_as<void>;
        /// Takes a queued receive out. Returns false if it is not queued.
        { matcher.cancel(receive) } noexcept -> std::same_as<bool>;
        /// Lengths of queues. The most posted receives are as of the latest note_posted().
        { matcher.counters } -> std::same_as<tool::counters::Matching&>;
        { matcher.searches } -> std::same_as<SearchCounts&>;
        /// Raises the order of all later posts above the given one. Returns the current highest.
        { matcher.raise_order(order) } noexcept -> std::same_as<std::uint64_t>;
        /// Calls visit(receive) for each queued receive.
        { matcher.each_posted(visit_receive) } -> std::same_as<void>;
        /// Calls visit(message) for each queued message.
        { matcher.each_kept(visit_message) } -> std::same_as<void>;
    };

}  // namespace heddle::match
