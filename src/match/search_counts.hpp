// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// How much a matcher has looked for receives and messages: in all, and for each context.
///
/// Thread safety  whoever holds what guards the matcher; `total` is read by any thread.
/// Cost           a search adds to two counters. Those of its context are found without a search of their own
///                while no two contexts in use meet in `recent`.
/// Memory         a place for each context that has been searched for, until forget(). Where there is none
///                left, searches count in `total` only.

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "tool/counters.hpp"

namespace heddle::match {

using Searching = tool::counters::Searching;

class SearchCounts {
public:
    SearchCounts() = default;
    SearchCounts(const SearchCounts&) = delete;
    SearchCounts& operator=(const SearchCounts&) = delete;

    /// A search that has looked at `steps` entries. Nothing to look at is no search. Most look at one: that is
    /// counted once, and told by add_shallow_searches().
    void note(std::uint32_t context, std::uint64_t steps) noexcept {
        if (steps == 1) [[likely]] {
            total.searches_to_1.add();
            if (Searching* const searches = of(context)) searches->searches_to_1.add();
        } else if (steps != 0) {
            note_deep(context, steps);
        }
    }
    void add_time(std::uint32_t context, std::uint64_t nanoseconds) noexcept;

    /// Adds what was counted for a context.
    void add_to(tool::Values& sums, std::uint32_t context) const;
    /// The context will be that of another communicator.
    void forget(std::uint32_t context) noexcept;

    /// Entries looked at so far, and the most that one search has looked at.
    std::uint64_t steps() const noexcept { return total.search_steps.value() + total.searches_to_1.value(); }
    std::uint64_t deepest() const noexcept {
        const std::uint64_t deepest = total.deepest_search.value();
        return deepest == 0 && total.searches_to_1.value() != 0 ? 1 : deepest;
    }

    Searching total;

private:
    struct Recent {
        std::uint32_t context = 0;
        Searching* searches = nullptr;
    };
    struct ByContext {
        std::array<Recent, 8> recent;
        std::unordered_map<std::uint32_t, Searching> all;

        // Contexts come in pairs, the second of which is for collectives.
        Recent& place_of(std::uint32_t context) noexcept { return recent[context / 2 % recent.size()]; }
    };

    /// nullptr for want of memory.
    Searching* of(std::uint32_t context) noexcept {
        if (by_context_ == nullptr) [[unlikely]] return find(context);
        const Recent& recent = by_context_->place_of(context);
        return recent.context == context && recent.searches != nullptr ? recent.searches : find(context);
    }
    [[gnu::cold]] Searching* find(std::uint32_t context) noexcept;
    void note_deep(std::uint32_t context, std::uint64_t steps) noexcept;

    std::unique_ptr<ByContext> by_context_;  ///< once something was searched for
};

/// What sums do not have in them yet.
void add_shallow_searches(tool::Values& sums) noexcept;

}  // namespace heddle::match
