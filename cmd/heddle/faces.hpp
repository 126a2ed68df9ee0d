// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Faces of this installation: its libraries with the names and ABIs of other MPI libraries (docs/faces.md).

#include <filesystem>
#include <string>
#include <vector>

namespace heddle::cmd {

/// The folder, whether it is there or not.
std::filesystem::path folder_of_faces();
/// Names of the libraries that are there, symbolic links included, sorted.
std::vector<std::string> faces();

}  // namespace heddle::cmd
