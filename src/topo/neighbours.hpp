// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The edges of one process, in the order of the blocks in neighbourhood collectives.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heddle::topo {

struct Neighbours {
    std::vector<std::int32_t> sources;       ///< ranks, or MPI_PROC_NULL; one may occur repeatedly
    std::vector<std::int32_t> destinations;  ///< ranks, or MPI_PROC_NULL; one may occur repeatedly
    /// Sources come in pairs. The second of a pair meets the first of two messages of one process.
    bool crossed = false;

    /// Returns the source of the i-th receive. Processes may share several edges, and messages
    /// between two processes stay in order. Receives in this order, and sends in the order of
    /// destinations, then meet along the right edges.
    ///
    /// In a grid, a block sent in negative direction is an even block of the sender. It arrives
    /// from positive direction, in an odd block of the receiver. That also holds if both neighbours
    /// of a process are the same, or are the process itself.
    std::size_t receive_order(std::size_t i) const noexcept { return crossed ? i ^ 1 : i; }
};

}  // namespace heddle::topo
