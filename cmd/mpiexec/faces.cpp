// SPDX-License-Identifier: BSD-3-Clause
#include "faces.hpp"

#include <filesystem>

namespace heddle::mpiexec {

namespace {

std::string find_folder() {
    namespace fs = std::filesystem;
    std::error_code error;
    const fs::path program = fs::read_symlink("/proc/self/exe", error);
    if (error) return {};
    const fs::path folder =
        (program.parent_path() / HEDDLE_LIBDIR_FROM_BINDIR / "heddle/faces").lexically_normal();
    return fs::is_directory(folder, error) ? folder.string() : std::string();
}

}  // namespace

const std::string& folder_of_faces() {
    static const std::string folder = find_folder();
    return folder;
}

void find_faces_first(Environment& environment) {
    const std::string& folder = folder_of_faces();
    if (folder.empty()) return;
    const std::string name = "LD_LIBRARY_PATH";
    const std::string given(environment.value(name));
    if (given == folder || given.starts_with(folder + ":")) return;
    environment.set(name, given.empty() ? folder : folder + ":" + given);
}

}  // namespace heddle::mpiexec
