// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The HEDDLE_ variables that ranks will find: is there one that nobody reads?

#include <string>
#include <vector>

#include "job.hpp"

namespace heddle::mpiexec {

/// A sentence for each such variable, once for all ranks, with the name that may have been meant.
std::vector<std::string> unknown_variables(const Job& job);

}  // namespace heddle::mpiexec
