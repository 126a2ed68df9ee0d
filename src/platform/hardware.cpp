// SPDX-License-Identifier: BSD-3-Clause
#include "platform/hardware.hpp"

#include <cstring>
#include <hwloc.h>
#include <memory>
#include <strings.h>

namespace heddle::platform {
namespace {

/// Found out when it is first asked for, which takes a while. Never destroyed: threads outlive main().
hwloc_topology_t topology() {
    static const hwloc_topology_t machine = [] {
        hwloc_topology_t made = nullptr;
        if (hwloc_topology_init(&made) != 0) return hwloc_topology_t{};
        // All of the machine, also what this process may not use: objects then have the same numbers in
        // processes that may use different parts of it.
        hwloc_topology_set_flags(made, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
        if (hwloc_topology_load(made) == 0) return made;
        hwloc_topology_destroy(made);
        return hwloc_topology_t{};
    }();
    return machine;
}

/// HWLOC_OBJ_TYPE_MAX if there is none of this name. (hwloc's own search takes beginnings of words.)
int type_named(const char* name) noexcept {
    int type = HWLOC_OBJ_TYPE_MIN;
    while (type != HWLOC_OBJ_TYPE_MAX &&
           strcasecmp(hwloc_obj_type_string(static_cast<hwloc_obj_type_t>(type)), name) != 0)
        ++type;
    return type;
}

}  // namespace

int hardware_of_process(const std::string& kind) {
    const bool prefixed = kind.starts_with(hardware_prefix);
    const std::string name = prefixed ? kind.substr(std::strlen(hardware_prefix)) : kind;
    const hwloc_topology_t machine = topology();
    const int found = type_named(name.c_str());
    if (machine == nullptr || found == HWLOC_OBJ_TYPE_MAX) return -1;
    const auto type = static_cast<hwloc_obj_type_t>(found);
    const std::unique_ptr<hwloc_bitmap_s, void (*)(hwloc_bitmap_t)> mine(hwloc_bitmap_alloc(),
                                                                         hwloc_bitmap_free);
    if (mine == nullptr || hwloc_get_cpubind(machine, mine.get(), HWLOC_CPUBIND_PROCESS) != 0)
        return -1;
    for (hwloc_obj_t at = nullptr; (at = hwloc_get_next_obj_by_type(machine, type, at)) != nullptr;)
        if (at->cpuset != nullptr && hwloc_bitmap_isincluded(mine.get(), at->cpuset))
            return static_cast<int>(at->logical_index);
    return -1;
}

}  // namespace heddle::platform
