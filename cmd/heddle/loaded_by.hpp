// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The MPI library that a program would load, as the loader says it. The program is not run.

#include <string>

namespace heddle::cmd {

struct LoadedBy {
    std::string name;     ///< as the program asks for it, libmpi_abi.so.1; empty: it asks for none
    std::string path;     ///< of the file that the loader finds; empty: none
    std::string problem;  ///< why that cannot be told; empty: it can
};

LoadedBy mpi_loaded_by(const std::string& program);

}  // namespace heddle::cmd
