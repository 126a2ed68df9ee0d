// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Common parts of engines that search linearly. `Engine` derives from it, and names the list that
/// a receive belongs to.

#include <cstdint>

#include "match/matcher.hpp"
#include "match/queue.hpp"

namespace heddle::match {

template <class Engine>
class LinearSearch {
public:
    Message* post(core::Request& receive, Pattern pattern) noexcept {
        if (Message* message = engine().find(pattern)) {
            engine().take(*message);
            mark_taken(receive);
            return message;
        }
        receive.order = ++order_;
        engine().list_of(receive).append(receive);
        counters.posted_receives.add();
        return nullptr;
    }
    void take_posted(core::Request& receive) noexcept {
        note_posted(counters);
        counters.posted_receives.subtract();
        engine().list_of(receive).remove(receive);
        mark_taken(receive);
    }
    core::Request* arrive(const Envelope& envelope) noexcept {
        core::Request* first = engine().posted_for(envelope);
        if (first != nullptr) take_posted(*first);
        return first;
    }
    bool cancel(core::Request& receive) noexcept {
        if (is_taken(receive)) return false;
        take_posted(receive);
        receive.bytes = 0;
        return true;
    }
    std::uint64_t raise_order(std::uint64_t least) noexcept {
        if (order_ < least) order_ = least;
        return order_;
    }

    tool::counters::Matching counters;
    SearchCounts searches;

private:
    std::uint64_t order_ = 0;

    Engine& engine() noexcept { return static_cast<Engine&>(*this); }
};

}  // namespace heddle::match
