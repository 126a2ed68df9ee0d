// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Two matching engines of one kind: one for receives with MPI_ANY_TAG, and one for all others. The
/// instances of a process do the same (p2p/wildcards.hpp). Here there is a single instance, as in
/// most libraries.

#include <cstdint>

#include "match/matcher.hpp"
#include "match/queue.hpp"

namespace heddle::replay {

template <match::Matcher Engine>
class State {
public:
    /// Returns the message for the receive, which holds its pattern, or nullptr if the receive is
    /// queued.
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
    /// Takes out and returns the receive that gets the message, or returns nullptr if there is
    /// none.
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
    /// Returns the message that a probe takes.
    match::Message* take(const match::Pattern& pattern) noexcept {
        match::Message* const message = engine_.find(pattern);
        if (message != nullptr) engine_.take(*message);
        return message;
    }

    /// Returns the number of entries looked at so far.
    std::uint64_t steps() const noexcept {
        return engine_.searches.steps() + wildcards_.searches.steps();
    }

private:
    Engine engine_, wildcards_;
};

}  // namespace heddle::replay
