// SPDX-License-Identifier: BSD-3-Clause
#include "platform/hierarchy.hpp"

#include <map>

#include "platform/hwloc.hpp"

namespace heddle::platform {
namespace {

using Level = std::vector<unsigned>;

/// Returns the groups of all objects of one type. Processors in none of them belong to group 0.
Level groups_of(const Machine& machine, hwloc_obj_type_t type, std::size_t processors) {
    const Hwloc& hwloc = machine.hwloc;
    const int depth = hwloc.get_type_depth(machine.topology, type);
    Level level(processors, 0);
    for (unsigned group = 0;; ++group) {
        const hwloc_obj_t at = hwloc.get_obj_by_depth(machine.topology, depth, group);
        if (at == nullptr) return level;
        if (at->cpuset == nullptr) continue;
        for (int p = hwloc.bitmap_next(at->cpuset, -1); p >= 0;
             p = hwloc.bitmap_next(at->cpuset, p))
            if (static_cast<std::size_t>(p) < processors)
                level[static_cast<std::size_t>(p)] = group;
    }
}

/// Returns true if there is more than one group, and fewer than processors.
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
    const Machine& machine = platform::machine();
    if (machine.topology == nullptr) return found;
    const int last =
        machine.hwloc.bitmap_last(machine.hwloc.topology_get_topology_cpuset(machine.topology));
    if (last < 0) return found;
    for (const hwloc_obj_type_t type : {HWLOC_OBJ_CORE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE,
                                        HWLOC_OBJ_NUMANODE, HWLOC_OBJ_PACKAGE}) {
        Level level = groups_of(machine, type, static_cast<std::size_t>(last) + 1);
        if (!tells_apart(level)) continue;
        // Memories may be larger or smaller than caches. A level that is equal or does not nest is
        // left out.
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
