// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Where this process runs, as far as that decides whether a process id means the same to two processes.

#include <string>

namespace heddle::platform {

struct Place {
    std::string machine;        ///< a number of this start of the kernel; "-" where it is not told
    std::string pid_namespace;  ///< likewise
};
Place place_here();

}  // namespace heddle::platform
