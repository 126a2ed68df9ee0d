// SPDX-License-Identifier: BSD-3-Clause
#include "topology.hpp"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <tuple>

#include <fmt/format.h>

#include "unique_fd.hpp"

namespace heddle::mpiexec {

namespace {

constexpr int most_cpus = 8192;

/// Returns the content of a small file, or an empty text if it cannot be read.
std::string content(const std::string& path) {
    const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file) return {};
    std::array<char, 4096> text{};
    const ssize_t size = ::read(file.get(), text.data(), text.size());
    return {text.data(), size > 0 ? static_cast<std::size_t>(size) : 0};
}

/// Returns the NUMA node of each hardware thread. Returns nothing if there is one node.
std::vector<int> numa_nodes() {
    const std::vector<int> nodes = parse_cpu_list(content("/sys/devices/system/node/online"));
    if (nodes.size() < 2) return {};
    std::vector<int> node_of(most_cpus, 0);
    for (int node : nodes) {
        const std::string path = fmt::format("/sys/devices/system/node/node{}/cpulist", node);
        for (int cpu : parse_cpu_list(content(path)))
            if (cpu < most_cpus) node_of[static_cast<std::size_t>(cpu)] = node;
    }
    return node_of;
}

/// Returns the allowed hardware threads that share a core with `cpu`.
std::vector<int> siblings(int cpu, const std::vector<int>& allowed) {
    const std::string path =
        fmt::format("/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", cpu);
    std::vector<int> result;
    for (int sibling : parse_cpu_list(content(path)))
        if (std::binary_search(allowed.begin(), allowed.end(), sibling)) result.push_back(sibling);
    if (std::find(result.begin(), result.end(), cpu) == result.end()) return {cpu};
    return result;
}

int package_of(int cpu) {
    const std::string path =
        fmt::format("/sys/devices/system/cpu/cpu{}/topology/physical_package_id", cpu);
    return std::max(0, std::atoi(content(path).c_str()));
}

}  // namespace

std::vector<int> allowed_threads() {
    cpu_set_t* set = CPU_ALLOC(most_cpus);
    const std::size_t bytes = CPU_ALLOC_SIZE(most_cpus);
    std::vector<int> result;
    if (::sched_getaffinity(0, bytes, set) == 0)
        for (int cpu = 0; cpu < most_cpus; ++cpu)
            if (CPU_ISSET_S(cpu, bytes, set)) result.push_back(cpu);
    CPU_FREE(set);
    if (result.empty()) result.push_back(0);
    return result;
}

std::vector<int> parse_cpu_list(const std::string& text) {
    std::vector<int> numbers;
    const char* at = text.c_str();
    while (true) {
        char* end = nullptr;
        const long first = std::strtol(at, &end, 10);
        if (end == at) return numbers;
        long last = first;
        if (*end == '-') last = std::strtol(end + 1, &end, 10);
        for (long number = first; number <= last && number < most_cpus; ++number)
            numbers.push_back(static_cast<int>(number));
        if (*end != ',') return numbers;
        at = end + 1;
    }
}

std::string format_cpu_list(const std::vector<int>& numbers) {
    std::string text;
    for (std::size_t i = 0; i < numbers.size();) {
        std::size_t end = i + 1;
        while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
        if (!text.empty()) text += ',';
        text += fmt::format("{}", numbers[i]);
        if (end - i > 1) text += fmt::format("-{}", numbers[end - 1]);
        i = end;
    }
    return text;
}

int hardware_threads(const std::vector<Core>& cores) {
    std::size_t count = 0;
    for (const Core& core : cores) count += core.threads.size();
    return static_cast<int>(count);
}

void find_caches(std::vector<Core>& cores) {
    for (Core& core : cores) {
        const int cpu = core.threads.front();
        const std::vector<int> sharing = parse_cpu_list(content(
            fmt::format("/sys/devices/system/cpu/cpu{}/cache/index3/shared_cpu_list", cpu)));
        core.l3cache = sharing.empty() ? cpu : sharing.front();
    }
}

std::vector<Core> allowed_cores() {
    const std::vector<int> allowed = allowed_threads();
    const std::vector<int> nodes = numa_nodes();
    std::vector<bool> seen(most_cpus, false);
    std::vector<Core> cores;
    for (int cpu : allowed) {
        if (seen[static_cast<std::size_t>(cpu)]) continue;
        Core core{siblings(cpu, allowed), package_of(cpu), 0};
        if (!nodes.empty()) core.numa = nodes[static_cast<std::size_t>(cpu)];
        for (int thread : core.threads) seen[static_cast<std::size_t>(thread)] = true;
        cores.push_back(std::move(core));
    }
    std::sort(cores.begin(), cores.end(), [](const Core& a, const Core& b) {
        return std::tie(a.package, a.numa, a.threads.front()) <
            std::tie(b.package, b.numa, b.threads.front());
    });
    return cores;
}

}  // namespace heddle::mpiexec
