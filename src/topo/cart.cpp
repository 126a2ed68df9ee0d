// SPDX-License-Identifier: BSD-3-Clause
#include "topo/cart.hpp"

#include <limits>

#include "mpi.h"

namespace heddle::topo {
namespace {

/// Returns the number of ranks from one coordinate of a dimension to the next.
std::int64_t stride_of(const Cart& cart, std::size_t dimension) noexcept {
    std::int64_t stride = 1;
    for (std::size_t d = dimension + 1; d < cart.dimensions.size(); ++d)
        stride *= cart.dimensions[d].size;
    return stride;
}

/// Returns the coordinate in the grid, or nothing if it is outside.
std::optional<std::int32_t> wrapped(const Dimension& dimension, std::int64_t coordinate) noexcept {
    if (coordinate >= 0 && coordinate < dimension.size)
        return static_cast<std::int32_t>(coordinate);
    if (!dimension.periodic) return std::nullopt;
    const std::int64_t rest = coordinate % dimension.size;
    return static_cast<std::int32_t>(rest < 0 ? rest + dimension.size : rest);
}

}  // namespace

std::optional<std::int32_t> size_of(const Cart& cart) noexcept {
    std::int64_t size = 1;
    for (const Dimension& dimension : cart.dimensions) {
        size *= dimension.size;
        if (size > std::numeric_limits<std::int32_t>::max()) return std::nullopt;
    }
    return static_cast<std::int32_t>(size);
}

std::int32_t coordinate_of(const Cart& cart, std::int32_t rank, std::size_t dimension) noexcept {
    const std::int64_t steps = rank / stride_of(cart, dimension);
    return static_cast<std::int32_t>(steps % cart.dimensions[dimension].size);
}

std::vector<std::int32_t> coordinates_of(const Cart& cart, std::int32_t rank) {
    std::vector<std::int32_t> coordinates(cart.dimensions.size());
    for (std::size_t d = coordinates.size(); d-- > 0;) {
        coordinates[d] = rank % cart.dimensions[d].size;
        rank /= cart.dimensions[d].size;
    }
    return coordinates;
}

std::optional<std::int32_t> rank_at(const Cart& cart, const int* coordinates) noexcept {
    std::int64_t rank = 0;
    for (std::size_t d = 0; d < cart.dimensions.size(); ++d) {
        const auto coordinate = wrapped(cart.dimensions[d], coordinates[d]);
        if (!coordinate) return std::nullopt;
        rank = rank * cart.dimensions[d].size + *coordinate;
    }
    return static_cast<std::int32_t>(rank);
}

std::int32_t shifted(const Cart& cart, std::int32_t rank, std::size_t dimension,
                     std::int64_t distance) noexcept {
    const std::int32_t here = coordinate_of(cart, rank, dimension);
    const auto there = wrapped(cart.dimensions[dimension], here + distance);
    if (!there) return MPI_PROC_NULL;
    return static_cast<std::int32_t>(rank + (*there - here) * stride_of(cart, dimension));
}

Subgrid subgrid(const Cart& cart, std::int32_t rank, const int* remain) {
    Subgrid result;
    for (std::size_t d = 0; d < cart.dimensions.size(); ++d)
        if (remain[d] != 0) result.cart.dimensions.push_back(cart.dimensions[d]);
    std::vector<std::int32_t> coordinates = coordinates_of(cart, rank);
    const std::int32_t members = *size_of(result.cart);
    for (std::int32_t member = 0; member < members; ++member) {
        const std::vector<std::int32_t> inside = coordinates_of(result.cart, member);
        auto next = inside.begin();
        for (std::size_t d = 0; d < coordinates.size(); ++d)
            if (remain[d] != 0) coordinates[d] = *next++;
        result.ranks.push_back(*rank_at(cart, coordinates.data()));
    }
    return result;
}

Neighbours neighbours_of(const Cart& cart, std::int32_t rank) {
    Neighbours result;
    for (std::size_t d = 0; d < cart.dimensions.size(); ++d)
        for (const std::int64_t step : {-1, 1})
            result.sources.push_back(shifted(cart, rank, d, step));
    result.destinations = result.sources;
    result.crossed = true;
    return result;
}

}  // namespace heddle::topo
