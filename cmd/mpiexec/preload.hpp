// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Libraries of the installation that are loaded before a rank's program: the tracer, the checker.

#include <string>

#include "environment.hpp"

namespace heddle::mpiexec {

/// Returns the path of the installation's library of that name. The file need not exist.
std::string own_library(const char* name);

/// Makes the rank load a library before all others.
void preload(Environment& environment, const std::string& library);

}  // namespace heddle::mpiexec
