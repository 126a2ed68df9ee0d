// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Which process takes which place of a topology, so that neighbours are near each other on the machine
/// (`reorder`, MPI 5.0, 8.4).
///
/// The cost of a placement is the sum, over all links, of their weight times the distance of the two
/// processes: the number of levels of the machine (package, NUMA node, last-level cache) in which they
/// differ, and more than all of these where they are on different nodes. A few placements are tried, and
/// the cheapest is taken; the old order if none is cheaper.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace heddle::topo {

/// As platform/hardware.hpp names them.
inline constexpr std::array levels{"Package", "NUMANode", "L3Cache"};

/// The numbers of the node that a process is on, and of what it is bound to there; -1 where that is not known, or where it may
/// run on several.
struct Location {
    std::array<std::int32_t, 1 + levels.size()> domains{-1, -1, -1, -1};
};

struct Link {
    std::int32_t node;
    std::int64_t weight;
};
/// The links of each node, from either end or from both.
using Links = std::vector<std::vector<Link>>;

/// Whether the locations differ at all; if not, no order is better than another.
bool differ(std::span<const Location> locations) noexcept;

std::int64_t cost_of(std::span<const Location> locations, const Links& links,
                     std::span<const std::int32_t> process_of) noexcept;

/// For each node, the process that takes its place. Deterministic: every process that knows the same
/// finds the same.
std::vector<std::int32_t> placed(std::span<const Location> locations, const Links& links);

}  // namespace heddle::topo
