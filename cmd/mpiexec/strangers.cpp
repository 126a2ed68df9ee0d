// SPDX-License-Identifier: BSD-3-Clause
#include "strangers.hpp"

#include <array>
#include <fstream>
#include <string_view>

#include <fmt/format.h>

namespace heddle::mpiexec {

std::string foreign_library(pid_t pid) {
    // Names by which programs load Open MPI, and MPICH and its relatives.
    constexpr std::array<std::string_view, 3> names{"/libmpi.so.40", "/libmpi.so.12",
                                                    "/libmpich.so.12"};
    std::ifstream maps(fmt::format("/proc/{}/maps", pid));
    for (std::string line; std::getline(maps, line);)
        for (const std::string_view name : names)
            if (line.find(name) != std::string::npos) return line.substr(line.find('/'));
    return {};
}

}  // namespace heddle::mpiexec
