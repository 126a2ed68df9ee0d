// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The cores this process may use, from its affinity mask and /sys.
///
/// Read directly and not through hwloc, which takes longer than the rest of the launch.

#include <string>
#include <vector>

namespace heddle::mpiexec {

/// The allowed hardware threads of one core.
struct Core {
    std::vector<int> threads;  ///< numbers as the kernel gives them, increasing, never empty
    int package = 0;
    int numa = 0;
    int l3cache = 0;  ///< the first hardware thread that shares it; see find_caches()
};

/// The hardware threads that this process may use. Never empty.
std::vector<int> allowed_threads();

/// All allowed cores, neighbours next to each other: by package, NUMA node, first thread. Where
/// /sys tells nothing, every hardware thread counts as a core of one package. Never empty.
std::vector<Core> allowed_cores();

/// How many hardware threads they have.
int hardware_threads(const std::vector<Core>& cores);

/// Fills in `l3cache`. A core without one has one of its own.
void find_caches(std::vector<Core>& cores);

/// The numbers in a list as the kernel writes it: "0-2,5" is 0, 1, 2, 5.
std::vector<int> parse_cpu_list(const std::string& text);

/// The reverse of parse_cpu_list() for increasing numbers.
std::string format_cpu_list(const std::vector<int>& numbers);

}  // namespace heddle::mpiexec
