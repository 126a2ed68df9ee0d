// SPDX-License-Identifier: BSD-3-Clause
#include "platform/location.hpp"

#include <dlfcn.h>
#include <hwloc.h>

namespace heddle::platform {
namespace {

/// The functions of hwloc that are used here. Linked, the library and its own would be loaded by every
/// program, most of which never ask. It stays loaded.
class Hwloc {
public:
    Hwloc() noexcept {
        void* library = dlopen("libhwloc.so.15", RTLD_NOW | RTLD_LOCAL);
        usable_ = library != nullptr &&
            HWLOC_API_VERSION >> 16 == 2 &&  // the interface of libhwloc.so.15
            load(library, "hwloc_topology_init", topology_init) &&
            load(library, "hwloc_topology_set_flags", topology_set_flags) &&
            load(library, "hwloc_topology_load", topology_load) &&
            load(library, "hwloc_topology_destroy", topology_destroy) &&
            load(library, "hwloc_get_cpubind", get_cpubind) &&
            load(library, "hwloc_get_obj_by_depth", get_obj_by_depth) &&
            load(library, "hwloc_bitmap_alloc", bitmap_alloc) &&
            load(library, "hwloc_bitmap_free", bitmap_free) &&
            load(library, "hwloc_bitmap_isincluded", bitmap_isincluded) &&
            load(library, "hwloc_bitmap_weight", bitmap_weight) &&
            load(library, "hwloc_bitmap_first", bitmap_first);
    }
    bool usable() const noexcept { return usable_; }

    decltype(&hwloc_topology_init) topology_init = nullptr;
    decltype(&hwloc_topology_set_flags) topology_set_flags = nullptr;
    decltype(&hwloc_topology_load) topology_load = nullptr;
    decltype(&hwloc_topology_destroy) topology_destroy = nullptr;
    decltype(&hwloc_get_cpubind) get_cpubind = nullptr;
    decltype(&hwloc_get_obj_by_depth) get_obj_by_depth = nullptr;
    decltype(&hwloc_bitmap_alloc) bitmap_alloc = nullptr;
    decltype(&hwloc_bitmap_free) bitmap_free = nullptr;
    decltype(&hwloc_bitmap_isincluded) bitmap_isincluded = nullptr;
    decltype(&hwloc_bitmap_weight) bitmap_weight = nullptr;
    decltype(&hwloc_bitmap_first) bitmap_first = nullptr;

private:
    template <class Function>
    static bool load(void* library, const char* name, Function& function) noexcept {
        function = reinterpret_cast<Function>(dlsym(library, name));
        return function != nullptr;
    }
    bool usable_ = false;
};

/// The child whose cores include all of `cores`, if there is one.
hwloc_obj_t child_with(const Hwloc& hwloc, hwloc_obj_t object, hwloc_const_bitmap_t cores) noexcept {
    for (unsigned i = 0; i < object->arity; ++i)
        if (hwloc.bitmap_isincluded(cores, object->children[i]->cpuset)) return object->children[i];
    return nullptr;
}

/// The machine, which does not change: looked at once.
class Machine {
public:
    Machine() {
        if (!hwloc_.usable() || hwloc_.topology_init(&topology_) != 0) return;
        // Also what this process may not use: else processes would count differently.
        hwloc_.topology_set_flags(topology_, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
        loaded_ = hwloc_.topology_load(topology_) == 0;
    }
    ~Machine() {
        if (topology_ != nullptr) hwloc_.topology_destroy(topology_);
    }
    Machine(const Machine&) = delete;
    Machine& operator=(const Machine&) = delete;

    Location here() const {
        Location location;
        if (!loaded_) return location;
        hwloc_bitmap_t cores = hwloc_.bitmap_alloc();
        if (cores != nullptr && hwloc_.get_cpubind(topology_, cores, HWLOC_CPUBIND_PROCESS) == 0)
            location = location_of(cores);
        hwloc_.bitmap_free(cores);
        return location;
    }

private:
    /// Down from the whole machine, as long as one part has all of `cores`.
    Location location_of(hwloc_const_bitmap_t cores) const noexcept {
        Location location;
        auto& [package, node, cache] = location.domains;
        for (hwloc_obj_t object = hwloc_.get_obj_by_depth(topology_, 0, 0); object != nullptr;
             object = child_with(hwloc_, object, cores)) {
            const auto number = static_cast<std::int32_t>(object->logical_index);
            if (object->type == HWLOC_OBJ_PACKAGE) package = number;
            if (object->type == HWLOC_OBJ_L3CACHE) cache = number;
            if (hwloc_.bitmap_weight(object->nodeset) == 1)
                node = hwloc_.bitmap_first(object->nodeset);
        }
        return location;
    }

    const Hwloc hwloc_;
    hwloc_topology_t topology_ = nullptr;
    bool loaded_ = false;
};

}  // namespace

Location location() {
    static const Machine machine;
    return machine.here();
}

}  // namespace heddle::platform
