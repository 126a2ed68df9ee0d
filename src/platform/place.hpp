// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The place of this process, as far as it decides whether a process id means the same to two
/// processes.

#include <string>

namespace heddle::platform {

struct Place {
    std::string machine;        ///< a number of this boot of the kernel; "-" if it is unknown
    std::string pid_namespace;  ///< number of the name space; "-" if it is unknown
};
Place place_here();

}  // namespace heddle::platform
