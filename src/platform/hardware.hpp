// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// What of the machine's hardware this process is bound to, as hwloc knows it.

#include <string>

namespace heddle::platform {

/// The kinds that are asked for without being named, the largest first.
inline constexpr const char* kinds_of_hardware[] = {"Package", "NUMANode", "Die", "L3Cache",
                                                    "L2Cache", "Core",     "PU"};
/// May stand before the name of any kind that hwloc knows.
inline constexpr const char* hardware_prefix = "hwloc://";

/// The number of the object of this kind that has all the processors that the process may run on; -1 if
/// there is none, or no such kind. Thread safety: any thread.
int hardware_of_process(const std::string& kind);

}  // namespace heddle::platform
