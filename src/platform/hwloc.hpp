// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// hwloc, loaded on first use, and its view of the machine.
///
/// Thread safety  any thread.

#include <hwloc.h>

namespace heddle::platform {

/// The functions of hwloc. Linked in, it and its libraries would cost each start of each program
/// 0.1 ms, and few use it. Without hwloc nothing is known of the hardware.
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

    /// Returns false if hwloc is not there as a whole.
    bool load() noexcept;
};

/// The machine. It is examined on first use, which takes a while.
struct Machine {
    Hwloc hwloc;
    hwloc_topology_t topology = nullptr;  ///< nullptr if it is unknown

    Machine() noexcept;
};

const Machine& machine();

}  // namespace heddle::platform
