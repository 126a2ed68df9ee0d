// SPDX-License-Identifier: BSD-3-Clause
#include "platform/ancestors.hpp"

#include <fstream>
#include <unistd.h>

namespace heddle::platform {
namespace {

/// Returns 0 if the parent cannot be found.
pid_t parent_of(pid_t process) {
    std::ifstream file("/proc/" + std::to_string(process) + "/status");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with("PPid:")) return std::stoi(line.substr(5));
    return 0;
}

std::string mapped_file(pid_t process, std::string_view part) {
    std::ifstream maps("/proc/" + std::to_string(process) + "/maps");
    for (std::string line; std::getline(maps, line);) {
        const std::size_t path = line.find('/');
        if (path != std::string::npos && line.find(part, path) != std::string::npos)
            return line.substr(path);
    }
    return {};
}

}  // namespace

std::string file_of_ancestor(std::string_view part) {
    constexpr int most_generations = 16;
    pid_t process = getppid();
    for (int i = 0; i < most_generations && process > 1; ++i) {
        if (std::string file = mapped_file(process, part); !file.empty()) return file;
        process = parent_of(process);
    }
    return {};
}

}  // namespace heddle::platform
