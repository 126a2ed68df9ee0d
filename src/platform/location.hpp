// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Which part of the machine this process is bound to.

#include <array>
#include <cstdint>

namespace heddle::platform {

/// The package, the NUMA node and the last-level cache, by numbers that all processes of the machine
/// agree on; -1 where the process may run on several.
struct Location {
    std::array<std::int32_t, 3> domains{-1, -1, -1};
};

/// As hwloc sees it. The first call costs milliseconds, and hwloc is not loaded before it. Where there is
/// none, the process may run anywhere.
Location location();

}  // namespace heddle::platform
