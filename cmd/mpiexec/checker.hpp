// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The checker (docs/check.md): a library that stands between program and MPI, in the ranks of `mpiexec --check`.

#include "environment.hpp"

namespace heddle::mpiexec {

/// Has the library loaded before all others. Failure: the installation has none.
void load_checker(Environment& environment, bool json);

}  // namespace heddle::mpiexec
