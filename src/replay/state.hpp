// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// One matching engine, and beside it the receives with MPI_ANY_TAG, which no engine takes: what the
/// instances of a process do (p2p/wildcards.hpp), with a single instance, as most libraries have it.

#include <cstdint>
#include <limits>

#include "match/matcher.hpp"

namespace heddle::replay {

template <match::Matcher Engine>
class State {
public:
    /// The message that the receive, which holds its pattern, gets; nullptr: the receive is queued.
    match::Message* post(core::Request& receive) noexcept {
        const match::Pattern pattern{receive.context, receive.source, receive.tag};
        if (pattern.tag != match::any_tag) return engine_.post(receive, pattern);
        if (match::Message* message = take(pattern)) return message;
        receive.order = engine_.raise_order(engine_.raise_order(0) + 1);
        receive.next = nullptr;
        *end_ = &receive;
        end_ = &receive.next;
        return nullptr;
    }
    /// The receive that gets the message, taken out; nullptr: none.
    core::Request* arrive(const match::Envelope& envelope) noexcept {
        if (wildcards_ == nullptr) return engine_.arrive(envelope);
        core::Request* const exact = engine_.posted_for(envelope);
        core::Request** const wild = wildcard_for(
            envelope, exact == nullptr ? std::numeric_limits<std::uint64_t>::max() : exact->order);
        if (wild != nullptr) return unlink(wild);
        if (exact != nullptr) engine_.take_posted(*exact);
        return exact;
    }
    void keep(match::Message& message) noexcept { engine_.keep(message); }
    bool cancel(core::Request& receive) noexcept {
        if (receive.tag != match::any_tag) return engine_.cancel(receive);
        for (core::Request** at = &wildcards_; *at != nullptr; at = &(*at)->next)
            if (*at == &receive) return unlink(at) != nullptr;
        return false;
    }
    /// The message that a probe takes.
    match::Message* take(const match::Pattern& pattern) noexcept {
        match::Message* const message = engine_.find(pattern);
        if (message != nullptr) engine_.take(*message);
        return message;
    }

    /// Entries looked at so far.
    std::uint64_t steps() const noexcept {
        return wildcard_steps_ + match::steps_of(engine_.counters);
    }

private:
    /// What points at the first wildcard posted before `order` that accepts the message.
    core::Request** wildcard_for(const match::Envelope& envelope, std::uint64_t order) noexcept {
        for (core::Request** at = &wildcards_; *at != nullptr && (*at)->order < order;
             at = &(*at)->next) {
            ++wildcard_steps_;
            if (match::accepts({(*at)->context, (*at)->source, match::any_tag}, envelope))
                return at;
        }
        return nullptr;
    }
    core::Request* unlink(core::Request** at) noexcept {
        core::Request* const receive = *at;
        *at = receive->next;
        if (end_ == &receive->next) end_ = at;
        return receive;
    }

    Engine engine_;
    core::Request* wildcards_ = nullptr;
    core::Request** end_ = &wildcards_;
    std::uint64_t wildcard_steps_ = 0;
};

}  // namespace heddle::replay
