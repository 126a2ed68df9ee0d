// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Two matching engines of one kind: one for receives with MPI_ANY_TAG, and one for all others. That is what
/// the instances of a process do (p2p/wildcards.hpp), with a single instance, as most libraries have it.

#include <cstdint>

#include "match/matcher.hpp"
#include "match/queue.hpp"

namespace heddle::replay {

template <match::Matcher Engine>
class State {
public:
    /// The message that the receive, which holds its pattern, gets; nullptr: the receive is queued.
    match::Message* post(core::Request& receive) noexcept {
        const match::Pattern pattern{receive.context, receive.source, receive.tag};
        if (pattern.tag != match::any_tag) return engine_.post(receive, pattern);
        if (match::Message* message = take(pattern)) {
            match::mark_taken(receive);
            return message;
        }
        const std::uint64_t latest = engine_.raise_order(0);
        wildcards_.raise_order(latest);
        wildcards_.post(receive, pattern);
        engine_.raise_order(receive.order);
        return nullptr;
    }
    /// The receive that gets the message, taken out; nullptr: none.
    core::Request* arrive(const match::Envelope& envelope) noexcept {
        if (wildcards_.counters.posted_receives.value() == 0) return engine_.arrive(envelope);
        core::Request* const exact = engine_.posted_for(envelope);
        core::Request* const wildcard =
            wildcards_.posted_for({envelope.context, envelope.source, match::any_tag});
        if (wildcard != nullptr && (exact == nullptr || wildcard->order < exact->order)) {
            wildcards_.take_posted(*wildcard);
            return wildcard;
        }
        if (exact != nullptr) engine_.take_posted(*exact);
        return exact;
    }
    void keep(match::Message& message) noexcept { engine_.keep(message); }
    bool cancel(core::Request& receive) noexcept {
        return (receive.tag == match::any_tag ? wildcards_ : engine_).cancel(receive);
    }
    /// The message that a probe takes.
    match::Message* take(const match::Pattern& pattern) noexcept {
        match::Message* const message = engine_.find(pattern);
        if (message != nullptr) engine_.take(*message);
        return message;
    }

    /// Entries looked at so far.
    std::uint64_t steps() const noexcept {
        return engine_.searches.steps() + wildcards_.searches.steps();
    }

private:
    Engine engine_, wildcards_;
};

}  // namespace heddle::replay
