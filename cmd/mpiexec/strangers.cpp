// SPDX-License-Identifier: BSD-3-Clause
#include "strangers.hpp"

#include <array>
#include <filesystem>
#include <fstream>
#include <string_view>

#include <fmt/format.h>

#include "faces.hpp"

namespace heddle::mpiexec {

namespace {

/// A face, by which the program uses Heddle; of this installation or of another one.
bool is_ours(std::string_view line) {
    return line.find("/heddle/faces/") != std::string_view::npos;
}

}  // namespace

std::string foreign_library(pid_t pid) {
    // Names by which programs load Open MPI, and MPICH and its relatives.
    constexpr std::array<std::string_view, 3> names{"/libmpi.so.40", "/libmpi.so.12",
                                                    "/libmpich.so.12"};
    std::ifstream maps(fmt::format("/proc/{}/maps", pid));
    for (std::string line; std::getline(maps, line);)
        for (const std::string_view name : names)
            if (line.find(name) != std::string::npos && !is_ours(line))
                return line.substr(line.find('/'));
    return {};
}

std::string advice_on(const std::string& library) {
    const std::string face =
        folder_of_faces() + "/" + std::filesystem::path(library).filename().string();
    if (folder_of_faces().empty() || !std::filesystem::exists(face))
        return "Compile it with Heddle's mpicc, or start it with that library's mpiexec";
    return fmt::format(
        "The program names where it looks for MPI (RPATH): put `heddle run` before it, or set "
        "LD_PRELOAD={} (Python's "
        "mpi4py: MPI4PY_LIBMPI)",
        face);
}

}  // namespace heddle::mpiexec
