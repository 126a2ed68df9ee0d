// SPDX-License-Identifier: BSD-3-Clause
#include "platform/hierarchy.hpp"

#include <hwloc.h>
#include <map>
#include <memory>

namespace heddle::platform {
namespace {

using Level = std::vector<unsigned>;

/// Groups of all objects of one type; processors in none of them belong to group 0.
Level groups_of(hwloc_topology_t machine, hwloc_obj_type_t type, std::size_t processors) {
    Level level(processors, 0);
    unsigned group = 0;
    for (hwloc_obj_t at = nullptr; (at = hwloc_get_next_obj_by_type(machine, type, at)) != nullptr;
         ++group) {
        if (at->cpuset == nullptr) continue;
        for (int p = hwloc_bitmap_first(at->cpuset); p >= 0; p = hwloc_bitmap_next(at->cpuset, p))
            if (static_cast<std::size_t>(p) < processors)
                level[static_cast<std::size_t>(p)] = group;
    }
    return level;
}

/// More than one group, and fewer than processors.
bool tells_apart(const Level& level) {
    std::map<unsigned, unsigned> sizes;
    for (const unsigned group : level) ++sizes[group];
    return sizes.size() > 1 && sizes.size() < level.size();
}

bool lies_within(const Level& inner, const Level& outer) {
    std::map<unsigned, unsigned> parents;
    for (std::size_t p = 0; p < inner.size(); ++p)
        if (parents.try_emplace(inner[p], outer[p]).first->second != outer[p]) return false;
    return true;
}

Hierarchy find_out() {
    Hierarchy found;
    hwloc_topology_t made = nullptr;
    if (hwloc_topology_init(&made) != 0) return found;
    const std::unique_ptr<hwloc_topology, void (*)(hwloc_topology_t)> machine(
        made, hwloc_topology_destroy);
    if (hwloc_topology_load(made) != 0) return found;
    const int last = hwloc_bitmap_last(hwloc_topology_get_topology_cpuset(made));
    if (last < 0) return found;
    for (const hwloc_obj_type_t type : {HWLOC_OBJ_CORE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE,
                                        HWLOC_OBJ_NUMANODE, HWLOC_OBJ_PACKAGE}) {
        Level level = groups_of(made, type, static_cast<std::size_t>(last) + 1);
        if (!tells_apart(level)) continue;
        // Memories may be larger or smaller than caches: what does not nest, or is the same, adds nothing.
        if (!found.levels.empty() &&
            (!lies_within(found.levels.back(), level) || lies_within(level, found.levels.back())))
            continue;
        found.levels.push_back(std::move(level));
    }
    return found;
}

}  // namespace

const Hierarchy& hierarchy_of_machine() {
    static const Hierarchy machine = find_out();
    return machine;
}

}  // namespace heddle::platform
