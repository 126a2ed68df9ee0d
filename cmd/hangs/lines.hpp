// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Finds lines of a program with the addr2line of binutils.

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace heddle::hangs {

/// Returns for each of the `addresses` in the ELF file "ring.c:12" if addr2line finds it before
/// `end`, else "ring+0x1234".
std::vector<std::string> lines_of(const std::string& file,
                                  const std::vector<std::uint64_t>& addresses,
                                  std::chrono::steady_clock::time_point end);

}  // namespace heddle::hangs
