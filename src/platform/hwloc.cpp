// SPDX-License-Identifier: BSD-3-Clause
#include "platform/hwloc.hpp"

#include <dlfcn.h>

#include <type_traits>

namespace heddle::platform {

bool Hwloc::load() noexcept {
    void* const library = dlopen("libhwloc.so.15", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return false;
    const auto found = [library](auto& function, const char* name) {
        using Function = std::remove_reference_t<decltype(function)>;
        function = reinterpret_cast<Function>(dlsym(library, name));
        return function != nullptr;
    };
    return found(topology_init, "hwloc_topology_init") &&
        found(topology_set_flags, "hwloc_topology_set_flags") &&
        found(topology_load, "hwloc_topology_load") &&
        found(topology_destroy, "hwloc_topology_destroy") &&
        found(obj_type_string, "hwloc_obj_type_string") &&
        found(get_type_depth, "hwloc_get_type_depth") &&
        found(get_obj_by_depth, "hwloc_get_obj_by_depth") &&
        found(get_cpubind, "hwloc_get_cpubind") && found(bitmap_alloc, "hwloc_bitmap_alloc") &&
        found(bitmap_free, "hwloc_bitmap_free") &&
        found(bitmap_isincluded, "hwloc_bitmap_isincluded") &&
        found(bitmap_last, "hwloc_bitmap_last") && found(bitmap_next, "hwloc_bitmap_next") &&
        found(topology_get_topology_cpuset, "hwloc_topology_get_topology_cpuset");
}

Machine::Machine() noexcept {
    hwloc_topology_t made = nullptr;
    if (!hwloc.load() || hwloc.topology_init(&made) != 0) return;
    // Include all of the machine, also parts that this process may not use. Objects then have the
    // same numbers in processes that may use different parts of it.
    hwloc.topology_set_flags(made, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
    if (hwloc.topology_load(made) == 0)
        topology = made;
    else
        hwloc.topology_destroy(made);
}

/// Returns the machine, which is never destroyed: threads outlive main().
const Machine& machine() {
    static const Machine& found = *new Machine;
    return found;
}

}  // namespace heddle::platform
