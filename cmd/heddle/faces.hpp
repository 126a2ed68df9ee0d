// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The faces of this installation: its libraries with the names and ABIs of other MPI libraries
/// (docs/faces.md).

#include <filesystem>
#include <string>
#include <vector>

namespace heddle::cmd {

/// Returns the folder, which need not exist.
std::filesystem::path folder_of_faces();
/// Returns the names of the libraries in the folder, symbolic links included, sorted.
std::vector<std::string> faces();

}  // namespace heddle::cmd
