// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Chooses which process takes which place of a topology. Neighbours are to be near each other on
/// the machine (`reorder`, MPI 5.0, 8.4).
///
/// Each link costs its weight times the distance of its two processes. The cost of a placement is
/// the sum over all links. The distance is the number of levels of the machine (package, NUMA node,
/// last-level cache) in which they differ. It is more than all of these if they are on different
/// nodes. A few placements are tried, and the cheapest is taken, or the old order if none is
/// cheaper.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace heddle::topo {

/// The levels, by their names in platform/hardware.hpp.
inline constexpr std::array levels{"Package", "NUMANode", "L3Cache"};

/// The numbers of a process's node, and of the hardware that it is bound to there. A number is -1
/// if it is unknown, or if the process may run on several.
struct Location {
    std::array<std::int32_t, 1 + levels.size()> domains{-1, -1, -1, -1};
};

struct Link {
    std::int32_t node;
    std::int64_t weight;
};
/// The links of each node, known to one end or to both.
using Links = std::vector<std::vector<Link>>;

/// Returns whether the locations differ at all. If they do not, no order is better than another.
bool differ(std::span<const Location> locations) noexcept;

std::int64_t cost_of(std::span<const Location> locations, const Links& links,
                     std::span<const std::int32_t> process_of) noexcept;

/// Returns for each node the process that takes its place. Processes with equal arguments get equal
/// results.
std::vector<std::int32_t> placed(std::span<const Location> locations, const Links& links);

}  // namespace heddle::topo
