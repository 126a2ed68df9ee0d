// SPDX-License-Identifier: BSD-3-Clause
#include "platform/hardware.hpp"

#include <dlfcn.h>
#include <hwloc.h>
#include <strings.h>

#include <cstring>
#include <memory>
#include <type_traits>

namespace heddle::platform {
namespace {

/// hwloc, loaded when it is first asked for something: linked, it and what it needs would cost each start
/// of each program 0.1 ms, and few ask. Where it is not installed nothing is known of the hardware.
struct Hwloc {
    static_assert(HWLOC_API_VERSION >> 16 == 2, "whose library has another name");

    decltype(&hwloc_topology_init) topology_init = nullptr;
    decltype(&hwloc_topology_set_flags) topology_set_flags = nullptr;
    decltype(&hwloc_topology_load) topology_load = nullptr;
    decltype(&hwloc_topology_destroy) topology_destroy = nullptr;
    decltype(&hwloc_obj_type_string) obj_type_string = nullptr;
    decltype(&hwloc_get_type_depth) get_type_depth = nullptr;
    decltype(&hwloc_get_obj_by_depth) get_obj_by_depth = nullptr;
    decltype(&hwloc_get_cpubind) get_cpubind = nullptr;
    decltype(&hwloc_bitmap_alloc) bitmap_alloc = nullptr;
    decltype(&hwloc_bitmap_free) bitmap_free = nullptr;
    decltype(&hwloc_bitmap_isincluded) bitmap_isincluded = nullptr;

    /// False if it is not there as a whole.
    bool load() noexcept {
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
            found(bitmap_isincluded, "hwloc_bitmap_isincluded");
    }
};

/// The machine, found out when it is first asked for, which takes a while.
struct Machine {
    Hwloc hwloc;
    hwloc_topology_t topology = nullptr;  ///< nullptr: unknown

    Machine() noexcept {
        hwloc_topology_t made = nullptr;
        if (!hwloc.load() || hwloc.topology_init(&made) != 0) return;
        // All of the machine, also what this process may not use: objects then have the same numbers in
        // processes that may use different parts of it.
        hwloc.topology_set_flags(made, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
        if (hwloc.topology_load(made) == 0)
            topology = made;
        else
            hwloc.topology_destroy(made);
    }
};

/// Never destroyed: threads outlive main().
const Machine& machine() {
    static const Machine& found = *new Machine;
    return found;
}

/// HWLOC_OBJ_TYPE_MAX if there is none of this name. (hwloc's own search takes beginnings of words.)
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
