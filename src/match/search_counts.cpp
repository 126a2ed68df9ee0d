// SPDX-License-Identifier: BSD-3-Clause
#include "match/search_counts.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <new>

namespace heddle::match {
namespace {

/// By powers of two: the counters from `searches_to_1` on.
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

Searching& SearchCounts::find(std::uint32_t context) noexcept {
    try {
        Searching& found = all_[context];
        recent_[place_of(context)] = {context, &found};
        return found;
    } catch (const std::bad_alloc&) {
        return elsewhere_;
    }
}

void SearchCounts::note_deep(std::uint32_t context, std::uint64_t steps) noexcept {
    add_deep(total, steps);
    add_deep(of(context), steps);
}

void SearchCounts::add_to(tool::Values& sums, std::uint32_t context) const {
    const auto at = all_.find(context);
    if (at != all_.end()) sums += at->second;
}

void SearchCounts::forget(std::uint32_t context) noexcept {
    const std::uint32_t place = place_of(context);
    if (recent_[place].context == context) recent_[place] = nobody(place);
    all_.erase(context);
}

void add_shallow_searches(tool::Values& sums) noexcept {
    using Index = tool::CounterIndex;
    const std::uint64_t shallow = sums[Index::searches_to_1];
    sums[Index::searches] += shallow;
    sums[Index::search_steps] += shallow;
    if (shallow != 0) sums[Index::deepest_search] = std::max<std::uint64_t>(sums[Index::deepest_search], 1);
}

}  // namespace heddle::match
