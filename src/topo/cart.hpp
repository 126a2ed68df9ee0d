// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Cartesian grids (MPI 5.0, 8.5.1): ranks in row-major order, the last dimension running fastest.
///
/// A grid may have no dimension: one process, whose coordinates are empty.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "topo/neighbours.hpp"

namespace heddle::topo {

struct Dimension {
    std::int32_t size;  ///< at least 1
    bool periodic;
};

struct Cart {
    std::vector<Dimension> dimensions;
};

/// The number of processes; nothing when it does not fit into 31 bits.
std::optional<std::int32_t> size_of(const Cart& cart) noexcept;

/// The coordinate of `rank` in one dimension.
std::int32_t coordinate_of(const Cart& cart, std::int32_t rank, std::size_t dimension) noexcept;
/// One for each dimension.
std::vector<std::int32_t> coordinates_of(const Cart& cart, std::int32_t rank);
/// Of the process at these coordinates, which wrap where the grid is periodic; nothing outside of it.
std::optional<std::int32_t> rank_at(const Cart& cart, const int* coordinates) noexcept;

/// Of the process `distance` steps from `rank` along a dimension; MPI_PROC_NULL outside of the grid.
std::int32_t shifted(const Cart& cart, std::int32_t rank, std::size_t dimension,
                     std::int64_t distance) noexcept;

/// The grid of those dimensions that stay, and the ranks of `cart` that are with `rank` in it, in order.
struct Subgrid {
    Cart cart;
    std::vector<std::int32_t> ranks;
};
Subgrid subgrid(const Cart& cart, std::int32_t rank, const int* remain);

/// By dimension, in negative direction, then in positive direction (MPI 5.0, 8.6).
Neighbours neighbours_of(const Cart& cart, std::int32_t rank);

}  // namespace heddle::topo
