// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Lines of a program by the addr2line of binutils.

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace heddle::hangs {

/// For each of the `addresses` in the ELF file: "ring.c:12" where addr2line knows it until `end`, else "ring+0x1234".
std::vector<std::string> lines_of(const std::string& file,
                                  const std::vector<std::uint64_t>& addresses,
                                  std::chrono::steady_clock::time_point end);

}  // namespace heddle::hangs
