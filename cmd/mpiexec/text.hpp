// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Words of the command line, taken apart.

#include <string>
#include <string_view>
#include <vector>

namespace heddle::mpiexec {

/// `text` in small letters (ASCII).
std::string lower(std::string_view text);

/// The parts between `separator`s; at least one.
std::vector<std::string> split(std::string_view text, char separator);

}  // namespace heddle::mpiexec
