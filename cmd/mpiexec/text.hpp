// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Takes words of the command line apart.

#include <string>
#include <string_view>
#include <vector>

namespace heddle::mpiexec {

/// Returns `text` in small letters (ASCII).
std::string lower(std::string_view text);

/// Returns the parts between `separator`s, at least one.
std::vector<std::string> split(std::string_view text, char separator);

}  // namespace heddle::mpiexec
