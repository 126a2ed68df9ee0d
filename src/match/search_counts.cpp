// SPDX-License-Identifier: BSD-3-Clause
#include "match/search_counts.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <new>

namespace heddle::match {
namespace {

/// Counters by powers of two, from `searches_to_1` on.
constexpr tool::Counter Searching::* by_depth[] = {
#define PLACE(name, unit, doc) &Searching::name,
#define HISTOGRAM(name, unit, doc) POWERS(PLACE, name, unit, doc)
#include "tool/all.def"
#undef PLACE
};

void add_deep(Searching& searching, std::uint64_t steps) noexcept {
    searching.searches.add();
    searching.search_steps.add(steps);
    searching.deepest_search.raise_to(steps);
    const auto power = static_cast<std::size_t>(std::bit_width(steps - 1));
    (searching.*by_depth[std::min(power, std::size(by_depth) - 1)]).add();
}

}  // namespace

void SearchCounts::turn_to(std::uint32_t context) noexcept {
    credit_context();
    context_ = context;
    try {
        searches_ = find(context);
    } catch (const std::bad_alloc&) {
        searches_ = nullptr;
    }
}

void SearchCounts::credit_context() noexcept {
    const std::uint64_t now = total.searches_to_1.value();
    if (searches_ != nullptr) searches_->searches_to_1.add(now - credited_);
    credited_ = now;
}

Searching* SearchCounts::find(std::uint32_t context) {
    if (by_context_ == nullptr) by_context_ = std::make_unique<ByContext>();
    // Contexts come in pairs. The second one is for collectives.
    Recent& recent = by_context_->recent[context / 2 % by_context_->recent.size()];
    if (recent.context != context || recent.searches == nullptr)
        recent = {context, &by_context_->all[context]};
    return recent.searches;
}

void SearchCounts::note_uncommon(std::uint32_t context, std::uint64_t steps) noexcept {
    if (context != context_) turn_to(context);
    if (steps <= 1) return total.searches_to_1.add();
    add_deep(total, steps);
    if (searches_ != nullptr) add_deep(*searches_, steps);
}

void SearchCounts::add_time(std::uint32_t context, std::uint64_t nanoseconds) noexcept {
    if (context != context_) turn_to(context);
    total.match_time.add(nanoseconds);
    if (searches_ != nullptr) searches_->match_time.add(nanoseconds);
}

void SearchCounts::add_to(tool::Values& sums, std::uint32_t context) noexcept {
    credit_context();
    if (by_context_ == nullptr) return;
    const auto at = by_context_->all.find(context);
    if (at != by_context_->all.end()) sums += at->second;
}

void SearchCounts::forget(std::uint32_t context) noexcept {
    credit_context();
    context_ = none;
    searches_ = nullptr;
    if (by_context_ == nullptr) return;
    by_context_->recent = {};
    by_context_->all.erase(context);
}

void add_shallow_searches(tool::Values& sums) noexcept {
    using Index = tool::CounterIndex;
    const std::uint64_t shallow = sums[Index::searches_to_1];
    sums[Index::searches] += shallow;
    sums[Index::search_steps] += shallow;
    if (shallow != 0)
        sums[Index::deepest_search] = std::max<std::uint64_t>(sums[Index::deepest_search], 1);
}

}  // namespace heddle::match
