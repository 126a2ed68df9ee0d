// SPDX-License-Identifier: BSD-3-Clause
#include "platform/limits.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>
#include <string_view>
#include <sys/resource.h>
#include <unistd.h>

namespace heddle::platform {
namespace {

constexpr std::uint64_t no_limit = std::numeric_limits<std::int64_t>::max();

std::uint64_t limit_of(int which) noexcept {
    rlimit limit{};
    if (getrlimit(static_cast<__rlimit_resource>(which), &limit) != 0 ||
        limit.rlim_cur == RLIM_INFINITY)
        return no_limit;
    return std::min<std::uint64_t>(limit.rlim_cur, no_limit);
}

/// Returns the bytes of a line "NAME: 123 kB" of /proc/self/status.
std::uint64_t used(const char* name) {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.rfind(name, 0) == 0)
            return std::strtoull(line.c_str() + line.find(':') + 1, nullptr, 10) << 10;
    return 0;
}

struct Kind {
    const char* what;
    const char* option;  ///< option of ulimit
};

/// Returns an empty text if there is room.
std::string sentence(const Kind& kind, std::uint64_t wanted, std::uint64_t left) {
    if (wanted <= left) return {};
    const auto megabytes = [](std::uint64_t bytes, std::uint64_t up) {
        return std::to_string((bytes + up) >> 20) + " MB";
    };
    return "this needs " + megabytes(wanted, (1 << 20) - 1) + " of " + kind.what +
        ", of which ulimit " + kind.option + " allows " + megabytes(left, 0);
}

std::uint64_t left_of(std::uint64_t limit, const char* used_name) {
    if (limit == no_limit) return no_limit;
    return limit - std::min(limit, used(used_name));
}

/// Returns the number at the begin of a file. Returns `otherwise` if there is no such file, or no
/// number in it ("max").
std::uint64_t number_in(const std::string& path, std::uint64_t otherwise) {
    std::ifstream file(path);
    std::string text;
    std::uint64_t number = 0;
    if (!(file >> text)) return otherwise;
    return std::from_chars(text.data(), text.data() + text.size(), number).ec == std::errc{}
        ? number
        : otherwise;
}

/// Returns the least number of a control group and those around it. Their folders are its folder
/// and those around that. Groups that are invisible here (in a container) are skipped.
std::uint64_t least_in(const std::string& hierarchy, std::string group, std::uint64_t least) {
    for (;;) {
        for (const char* name : {"memory.max", "memory.high", "memory.limit_in_bytes"})
            least = std::min(least, number_in(hierarchy + group + "/" + name, least));
        const std::size_t slash = group.rfind('/');
        if (slash == std::string::npos) return least;
        group.erase(slash);
    }
}

}  // namespace

std::size_t most_file_bytes() noexcept { return limit_of(RLIMIT_FSIZE); }

bool file_size_is_limited() noexcept { return limit_of(RLIMIT_FSIZE) != no_limit; }

bool addresses_are_limited() noexcept { return limit_of(RLIMIT_AS) != no_limit; }

std::string limit_that_forbids(const Wanted& wanted) {
    std::string why =
        sentence({"address space", "-v"}, wanted.addresses, left_of(limit_of(RLIMIT_AS), "VmSize"));
    if (why.empty())
        why = sentence({"private memory", "-d"}, wanted.data,
                       left_of(limit_of(RLIMIT_DATA), "VmData"));
    if (why.empty())
        why = sentence({"shared memory in a file", "-f"}, wanted.file, limit_of(RLIMIT_FSIZE));
    return why;
}

/// Reads a line for each hierarchy: NUMBER:CONTROLLERS:GROUP. Version 2 has the number 0 and no
/// controllers.
std::uint64_t memory_of_control_groups(std::uint64_t otherwise, const std::string& root) {
    const std::string mounts = root + "/sys/fs/cgroup";
    std::uint64_t least = otherwise;
    std::ifstream groups(root + "/proc/self/cgroup");
    for (std::string line; std::getline(groups, line);) {
        std::istringstream fields(line);
        std::string number, controllers, group;
        if (!std::getline(fields, number, ':') || !std::getline(fields, controllers, ':') ||
            !std::getline(fields, group))
            continue;
        // A group outside of this name space is invisible: the visible root counts.
        if (group == "/" || group.find("/..") == 0) group.clear();
        if (controllers.empty()) {
            least = least_in(mounts, group, least);
            least = least_in(mounts + "/unified", group, least);  // beside version 1
        } else if (("," + controllers + ",").find(",memory,") != std::string::npos) {
            least = least_in(mounts + "/memory", group, least);
        }
    }
    return least;
}

std::uint64_t memory_of_process(std::size_t processes) {
    const std::uint64_t machine = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
        static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    return std::min({memory_of_control_groups(machine) / processes, limit_of(RLIMIT_AS),
                     limit_of(RLIMIT_DATA)});
}

}  // namespace heddle::platform
