// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The hardware that this process is bound to, as hwloc knows it.

#include <string>

namespace heddle::platform {

/// The kinds that are reported without being named, the largest first.
inline constexpr const char* kinds_of_hardware[] = {"Package", "NUMANode", "Die", "L3Cache",
                                                    "L2Cache", "Core",     "PU"};
/// The optional prefix of the name of any kind that hwloc knows.
inline constexpr const char* hardware_prefix = "hwloc://";

/// Returns the number of the object of this kind that contains all processors of the process.
/// Returns -1 if there is none, or no such kind. Thread safety: any thread.
int hardware_of_process(const std::string& kind);

}  // namespace heddle::platform
