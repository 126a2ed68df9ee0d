// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Reads files that a user names on the command line as a whole, up to a limit.

#include <string>
#include <string_view>

namespace heddle::mpiexec {

/// Returns the content of the file at `path`. Throws Failure, naming `option`, if it cannot be
/// read, or is too long for hosts or programs.
std::string read_small_file(std::string_view option, const std::string& path);

}  // namespace heddle::mpiexec
