// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// How much a matcher has looked for receives and messages: in all, and for each context.
///
/// Thread safety  whoever holds what guards the matcher; `total` is read by any thread.
/// Cost           a search of the same context as the one before adds to a counter. Another context is found
///                without a search of its own while no two that are in use meet in `recent`.
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
        if (steps != 0) note_lookup(context, steps);
    }
    /// A search in a table, which counts as one that looks at an entry even if the place is empty.
    void note_lookup(std::uint32_t context, std::uint64_t steps) noexcept {
        if (context == context_ && steps <= 1) [[likely]]
            total.searches_to_1.add();
        else
            note_uncommon(context, steps);
    }
    void add_time(std::uint32_t context, std::uint64_t nanoseconds) noexcept;

    /// Adds what was counted for a context.
    void add_to(tool::Values& sums, std::uint32_t context) noexcept;
    /// The context will be that of another communicator.
    void forget(std::uint32_t context) noexcept;

    /// Entries looked at so far, and the most that one search has looked at.
    std::uint64_t steps() const noexcept {
        return total.search_steps.value() + total.searches_to_1.value();
    }
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
    };
    static constexpr std::uint32_t none = ~std::uint32_t{0};

    /// Searches are of this context from now on.
    [[gnu::cold]] void turn_to(std::uint32_t context) noexcept;
    /// Tells the context at hand of those that have looked at one entry, of which only the total is counted.
    void settle() noexcept;
    Searching* find(std::uint32_t context);
    [[gnu::noinline]] void note_uncommon(std::uint32_t context, std::uint64_t steps) noexcept;

    std::uint32_t context_ = none;   ///< of the latest search
    Searching* searches_ = nullptr;  ///< of this context; nullptr for want of memory
    std::uint64_t settled_ = 0;      ///< of total.searches_to_1, those that contexts know of
    std::unique_ptr<ByContext> by_context_;  ///< once something was searched for
};

/// What sums do not have in them yet.
void add_shallow_searches(tool::Values& sums) noexcept;

}  // namespace heddle::match
