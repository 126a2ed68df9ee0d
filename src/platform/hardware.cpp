// SPDX-License-Identifier: BSD-3-Clause
#include "platform/hardware.hpp"

#include <strings.h>

#include <cstring>
#include <memory>

#include "platform/hwloc.hpp"

namespace heddle::platform {
namespace {

/// Returns HWLOC_OBJ_TYPE_MAX if there is no type of this name. (hwloc's own search accepts
/// prefixes.)
hwloc_obj_type_t type_named(const Hwloc& hwloc, const char* name) noexcept {
    int type = HWLOC_OBJ_TYPE_MIN;
    while (type != HWLOC_OBJ_TYPE_MAX &&
           strcasecmp(hwloc.obj_type_string(static_cast<hwloc_obj_type_t>(type)), name) != 0)
        ++type;
    return static_cast<hwloc_obj_type_t>(type);
}

}  // namespace

int hardware_of_process(const std::string& kind) {
    const bool prefixed = kind.starts_with(hardware_prefix);
    const std::string name = prefixed ? kind.substr(std::strlen(hardware_prefix)) : kind;
    const auto& [hwloc, topology] = machine();
    if (topology == nullptr) return -1;
    const hwloc_obj_type_t type = type_named(hwloc, name.c_str());
    if (type == HWLOC_OBJ_TYPE_MAX) return -1;
    const std::unique_ptr<hwloc_bitmap_s, decltype(hwloc.bitmap_free)> mine(hwloc.bitmap_alloc(),
                                                                            hwloc.bitmap_free);
    if (mine == nullptr || hwloc.get_cpubind(topology, mine.get(), HWLOC_CPUBIND_PROCESS) != 0)
        return -1;
    const int depth = hwloc.get_type_depth(topology, type);
    if (depth == HWLOC_TYPE_DEPTH_UNKNOWN || depth == HWLOC_TYPE_DEPTH_MULTIPLE) return -1;
    for (hwloc_obj_t at = hwloc.get_obj_by_depth(topology, depth, 0); at != nullptr;
         at = at->next_cousin)
        if (at->cpuset != nullptr && hwloc.bitmap_isincluded(mine.get(), at->cpuset))
            return static_cast<int>(at->logical_index);
    return -1;
}

}  // namespace heddle::platform
