// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Libraries of the installation that stand before a rank's program: the tracer, the checker.

#include <string>

#include "environment.hpp"

namespace heddle::mpiexec {

/// Where the installation has the library of that name, whether it is there or not.
std::string own_library(const char* name);

/// Has a library loaded before all others.
void preload(Environment& environment, const std::string& library);

}  // namespace heddle::mpiexec
