// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Cartesian grids (MPI 5.0, 8.5.1): ranks in row-major order, the last dimension running fastest.
///
/// A grid may have no dimension: it then has one process, whose coordinates are empty.

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

/// Returns the number of processes, or nothing if it does not fit into 31 bits.
std::optional<std::int32_t> size_of(const Cart& cart) noexcept;

/// Returns the coordinate of `rank` in one dimension.
std::int32_t coordinate_of(const Cart& cart, std::int32_t rank, std::size_t dimension) noexcept;
/// Returns one coordinate for each dimension.
std::vector<std::int32_t> coordinates_of(const Cart& cart, std::int32_t rank);
/// Returns the rank at these coordinates, which wrap if the dimension is periodic. Returns nothing
/// outside of the grid.
std::optional<std::int32_t> rank_at(const Cart& cart, const int* coordinates) noexcept;

/// Returns the rank `distance` steps from `rank` along a dimension, or MPI_PROC_NULL outside of the
/// grid.
std::int32_t shifted(const Cart& cart, std::int32_t rank, std::size_t dimension,
                     std::int64_t distance) noexcept;

/// The grid of the remaining dimensions, and the ranks of `cart` that are with `rank` in it, in
/// order.
struct Subgrid {
    Cart cart;
    std::vector<std::int32_t> ranks;
};
Subgrid subgrid(const Cart& cart, std::int32_t rank, const int* remain);

/// Returns the neighbours by dimension, in negative direction, then in positive direction (MPI 5.0,
/// 8.6).
Neighbours neighbours_of(const Cart& cart, std::int32_t rank);

}  // namespace heddle::topo
