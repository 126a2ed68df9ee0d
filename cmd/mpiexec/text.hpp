// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Takes words of the command line apart.

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::mpiexec {

/// Returns `text` in small letters (ASCII).
std::string lower(std::string_view text);

/// Returns true if `text` is one of `words`.
bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words);

/// Returns the parts between `separator`s, at least one.
std::vector<std::string> split(std::string_view text, char separator);

}  // namespace heddle::mpiexec
