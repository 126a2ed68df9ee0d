// SPDX-License-Identifier: BSD-3-Clause
#include "strangers.hpp"

#include <filesystem>
#include <fstream>
#include <string_view>

#include <fmt/format.h>

#include "faces.hpp"

namespace heddle::mpiexec {

std::string foreign_library(pid_t pid) {
    // Programs load Open MPI by this name, and its ranks find each other by PMIx. MPICH and its
    // relatives speak PMI-1, as this mpiexec does: their ranks form one job.
    constexpr std::string_view name = "/libmpi.so.40";
    constexpr std::string_view ours = "/heddle/faces/";
    std::ifstream maps(fmt::format("/proc/{}/maps", pid));
    for (std::string line; std::getline(maps, line);)
        if (line.find(name) != std::string::npos && line.find(ours) == std::string::npos)
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
