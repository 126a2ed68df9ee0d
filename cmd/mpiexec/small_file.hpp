// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Files that a user names on the command line: read as a whole, and never without end.

#include <string>
#include <string_view>

namespace heddle::mpiexec {

/// The content of the file at `path`. Throws Failure, naming `option`, if it cannot be read or is longer than any list
/// of hosts or programs.
std::string read_small_file(std::string_view option, const std::string& path);

}  // namespace heddle::mpiexec
