// SPDX-License-Identifier: BSD-3-Clause
#include "platform/cores.hpp"

#include <algorithm>
#include <sched.h>
#include <unistd.h>

namespace heddle::platform {

Cores cores() noexcept {
    const int online = std::max(1, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)));
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return {online, online};
    return {std::max(1, CPU_COUNT(&set)), online};
}

}  // namespace heddle::platform
