// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Faces: libraries of the installation with the names and ABIs of other MPI libraries
/// (docs/faces.md). Ranks find them before any other, so that a program built for another MPI runs
/// on Heddle.

#include <string>

#include "environment.hpp"

namespace heddle::mpiexec {

/// Returns the folder of faces of this mpiexec's installation, or an empty text if it has none.
const std::string& folder_of_faces();

/// Puts the folder first in LD_LIBRARY_PATH.
void find_faces_first(Environment& environment);

}  // namespace heddle::mpiexec
