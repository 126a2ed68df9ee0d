// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The cores that this process may use, from its affinity mask and /sys.
///
/// They are read directly and not through hwloc, which takes longer than the rest of the launch.

#include <string>
#include <vector>

namespace heddle::mpiexec {

/// The allowed hardware threads of one core.
struct Core {
    std::vector<int> threads;  ///< the kernel's numbers, increasing, never empty
    int package = 0;
    int numa = 0;
    int l3cache = 0;  ///< the first hardware thread that shares it; set by find_caches()
};

/// Returns the hardware threads that this process may use. The result is never empty.
std::vector<int> allowed_threads();

/// Returns all allowed cores, neighbours next to each other: by package, NUMA node, first thread.
/// If /sys tells nothing, every hardware thread counts as a core of one package. The result is
/// never empty.
std::vector<Core> allowed_cores();

/// Returns the number of hardware threads of the cores.
int hardware_threads(const std::vector<Core>& cores);

/// Fills in `l3cache`. A core without an L3 cache counts as having its own.
void find_caches(std::vector<Core>& cores);

/// Returns the numbers in a list of the kernel: "0-2,5" is 0, 1, 2, 5.
std::vector<int> parse_cpu_list(const std::string& text);

/// Returns the list of increasing numbers, the reverse of parse_cpu_list().
std::string format_cpu_list(const std::vector<int>& numbers);

}  // namespace heddle::mpiexec
