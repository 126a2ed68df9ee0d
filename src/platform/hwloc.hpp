// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// hwloc, loaded when it is first asked for something, and the machine as it sees it.
///
/// Thread safety  any thread.

#include <hwloc.h>

namespace heddle::platform {

/// Its functions. Linked, it and what it needs would cost each start
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
    decltype(&hwloc_bitmap_last) bitmap_last = nullptr;
    decltype(&hwloc_bitmap_next) bitmap_next = nullptr;
    decltype(&hwloc_topology_get_topology_cpuset) topology_get_topology_cpuset = nullptr;

    /// False if it is not there as a whole.
    bool load() noexcept;
};

/// The machine, found out when it is first asked for, which takes a while.
struct Machine {
    Hwloc hwloc;
    hwloc_topology_t topology = nullptr;  ///< nullptr: unknown

    Machine() noexcept;
};

const Machine& machine();

}  // namespace heddle::platform
