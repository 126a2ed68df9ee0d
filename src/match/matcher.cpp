// SPDX-License-Identifier: BSD-3-Clause
#include "match/matcher.hpp"

#include <algorithm>
#include <bit>
#include <iterator>

namespace heddle::match {
namespace {

using Matching = tool::counters::Matching;

/// By powers of two: the counters from `searches_to_1` on.
constexpr tool::Counter Matching::* by_depth[] = {
#define HISTOGRAM(name, unit, doc)                                                                 \
    &Matching::name##_to_1, &Matching::name##_to_2, &Matching::name##_to_4,                        \
        &Matching::name##_to_8, &Matching::name##_to_16, &Matching::name##_to_32,                  \
        &Matching::name##_to_64, &Matching::name##_to_128, &Matching::name##_to_256,               \
        &Matching::name##_to_512, &Matching::name##_to_1024, &Matching::name##_to_2048,            \
        &Matching::name##_to_4096, &Matching::name##_to_8192, &Matching::name##_to_16384,          \
        &Matching::name##_to_32768, &Matching::name##_beyond,
#include "tool/all.def"
};

}  // namespace

void note_deep_search(Matching& counters, std::uint64_t steps) noexcept {
    counters.searches.add();
    counters.search_steps.add(steps);
    counters.deepest_search.raise_to(steps);
    const auto power = static_cast<std::size_t>(std::bit_width(steps - 1));
    (counters.*by_depth[std::min(power, std::size(by_depth) - 1)]).add();
}

void add_shallow_searches(tool::Values& sums) noexcept {
    using Index = tool::CounterIndex;
    const std::uint64_t shallow = sums[Index::searches_to_1];
    sums[Index::searches] += shallow;
    sums[Index::search_steps] += shallow;
    if (shallow != 0) sums[Index::deepest_search] = std::max<std::uint64_t>(sums[Index::deepest_search], 1);
}

}  // namespace heddle::match
