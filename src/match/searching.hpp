// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// What engines have in common that search linearly: `Engine` is the one that derives from it.

#include <cstdint>

#include "match/matcher.hpp"
#include "match/queue.hpp"

namespace heddle::match {

template <class Engine>
class Searching {
public:
    core::Request* arrive(const Envelope& envelope) noexcept {
        core::Request* first = engine().posted_for(envelope);
        if (first != nullptr) engine().take_posted(*first);
        return first;
    }
    bool cancel(core::Request& receive) noexcept {
        if (is_taken(receive)) return false;
        engine().take_posted(receive);
        receive.bytes = 0;
        return true;
    }
    std::uint64_t raise_order(std::uint64_t least) noexcept {
        if (order_ < least) order_ = least;
        return order_;
    }

    tool::counters::Matching counters;

protected:
    std::uint64_t order_ = 0;

private:
    Engine& engine() noexcept { return static_cast<Engine&>(*this); }
};

}  // namespace heddle::match
