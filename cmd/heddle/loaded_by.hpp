// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The MPI library that a program would load, by the loader's own answer. The program is not run.

#include <string>

namespace heddle::cmd {

struct LoadedBy {
    std::string name;     ///< libmpi_abi.so.1, as in the program; empty if it needs none
    std::string path;     ///< the file that the loader finds; empty if it finds none
    std::string problem;  ///< why the answer is unknown; empty if it is known
};

LoadedBy mpi_loaded_by(const std::string& program);

}  // namespace heddle::cmd
