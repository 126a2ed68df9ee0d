// SPDX-License-Identifier: BSD-3-Clause
#include "platform/cores.hpp"

#include <algorithm>
#include <functional>
#include <string_view>
#include <unistd.h>

namespace heddle::platform {

Cores cores() noexcept {
    const int online = std::max(1, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)));
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return {online, online, 1};
    const std::string_view bytes(reinterpret_cast<const char*>(&set), sizeof set);
    return {std::max(1, CPU_COUNT(&set)), online, std::hash<std::string_view>()(bytes) | 1};
}

CoreSet::CoreSet() noexcept : known_(sched_getaffinity(0, sizeof set_, &set_) == 0) {}

void CoreSet::apply() const noexcept {
    if (known_) (void)sched_setaffinity(0, sizeof set_, &set_);
}

}  // namespace heddle::platform
