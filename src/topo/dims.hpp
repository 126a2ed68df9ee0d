// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Balanced grids, for MPI_Dims_create (MPI 5.0, 8.5.2).

#include <cstdint>
#include <vector>

namespace heddle::topo {

/// Returns `parts` factors of `number` (at least 1), non-increasing and as close to each other as
/// possible. The difference of the largest and the smallest is least. Among the lists with that
/// difference it is the lexicographically first. `parts` is at least 1.
std::vector<std::int32_t> balanced_factors(std::int32_t number, std::int32_t parts);

}  // namespace heddle::topo
