// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Graphs of processes: those that every process knows (MPI 5.0, 8.5.3), and those of which each
/// process knows its own edges (8.5.4).

#include <cstdint>
#include <span>
#include <vector>

#include "topo/neighbours.hpp"

namespace heddle::topo {

struct Graph {
    std::vector<std::int32_t> ends;  ///< the end of each node's neighbours in `edges`
    std::vector<std::int32_t> edges;

    std::span<const std::int32_t> neighbours(std::int32_t node) const noexcept {
        const auto i = static_cast<std::size_t>(node);
        const auto first = static_cast<std::size_t>(i == 0 ? 0 : ends[i - 1]);
        return {edges.data() + first, static_cast<std::size_t>(ends[i]) - first};
    }
};

/// The knowledge of a process in a distributed graph, beside its neighbours.
struct DistGraph {
    bool weighted = false;
    std::vector<std::int32_t> source_weights;  ///< empty unless weighted, like the other one
    std::vector<std::int32_t> destination_weights;
};

}  // namespace heddle::topo
