// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Finds the name that the user may have meant.

#include <cstddef>
#include <string_view>

namespace heddle::mpiexec {

/// Returns how many letters must be changed, added or left out to make `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// Returns the greatest distance from `name` at which another name may have been meant.
constexpr std::size_t most_distance(std::string_view name) {
    return name.size() / 2 > 1 ? name.size() / 2 : 1;
}

}  // namespace heddle::mpiexec
