// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Counts of a matcher's searches for receives and messages: in total, and for each context.
///
/// Thread safety  the thread that holds the matcher's guard; `total` is read by any thread.
/// Cost           a search of the same context as the one before adds to a counter. Finding another
///                context needs no search, unless two contexts in use share a place in `recent`.
/// Memory         a place for each context that has been searched for, until forget(). If memory
///                runs out, searches count in `total` only.

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

    /// Counts a search that has looked at `steps` entries. A search of an empty queue is none. Most
    /// look at one entry. They are counted once, and add_shallow_searches() adds them to sums.
    void note(std::uint32_t context, std::uint64_t steps) noexcept {
        if (steps != 0) note_lookup(context, steps);
    }
    /// Counts a search in a table. It looks at one entry even if the place is empty.
    void note_lookup(std::uint32_t context, std::uint64_t steps) noexcept {
        if (context == context_ && steps <= 1) [[likely]]
            total.searches_to_1.add();
        else
            note_uncommon(context, steps);
    }
    void add_time(std::uint32_t context, std::uint64_t nanoseconds) noexcept;

    /// Adds the counts of a context.
    void add_to(tool::Values& sums, std::uint32_t context) noexcept;
    /// Forgets the context, which will be that of another communicator.
    void forget(std::uint32_t context) noexcept;

    /// Return the entries looked at so far, and the most that one search has looked at.
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

    /// Turns to a context, that of the searches from now on.
    [[gnu::cold]] void turn_to(std::uint32_t context) noexcept;
    /// Adds searches that looked at one entry to the current context. Before, only their total is
    /// counted.
    void credit_context() noexcept;
    Searching* find(std::uint32_t context);
    [[gnu::noinline]] void note_uncommon(std::uint32_t context, std::uint64_t steps) noexcept;

    std::uint32_t context_ = none;           ///< of the latest search
    Searching* searches_ = nullptr;          ///< of this context; nullptr: memory has run out
    std::uint64_t credited_ = 0;             ///< part of total.searches_to_1 that contexts have
    std::unique_ptr<ByContext> by_context_;  ///< made by the first search
};

/// Adds the searches of one entry, which sums do not have yet.
void add_shallow_searches(tool::Values& sums) noexcept;

}  // namespace heddle::match
