// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The name that somebody may have meant.

#include <cstddef>
#include <string_view>

namespace heddle::mpiexec {

/// How many letters are to be changed, added or left out to make `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// Above this distance from `name` a name is another one.
constexpr std::size_t most_distance(std::string_view name) {
    return name.size() / 2 > 1 ? name.size() / 2 : 1;
}

}  // namespace heddle::mpiexec
