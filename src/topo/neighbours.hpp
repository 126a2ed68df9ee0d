// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The edges of one process, in the order in which neighbourhood collectives have their blocks.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heddle::topo {

struct Neighbours {
    std::vector<std::int32_t> sources;  ///< ranks, or MPI_PROC_NULL; one may be there repeatedly
    std::vector<std::int32_t> destinations;  ///< likewise
    /// Sources come in pairs, the second of which meets the first of two messages of one process.
    bool crossed = false;

    /// Which source the i-th receive is of. Receives in this order, and sends in the order of
    /// destinations, meet along the right edges wherever two processes share several: messages between
    /// two processes stay in order. In a grid, what leaves in negative direction (the even block of the
    /// sender) arrives from positive direction (the odd block of the receiver), also where both
    /// neighbours of a process are the same, or are the process itself.
    std::size_t receive_order(std::size_t i) const noexcept { return crossed ? i ^ 1 : i; }
};

}  // namespace heddle::topo
