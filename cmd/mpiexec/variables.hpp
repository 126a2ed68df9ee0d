// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Finds HEDDLE_ variables of the ranks that no program reads.

#include <string>
#include <vector>

#include "job.hpp"

namespace heddle::mpiexec {

/// Returns a sentence for each such variable, once for all ranks, with the name that may have been
/// meant.
std::vector<std::string> unknown_variables(const Job& job);

}  // namespace heddle::mpiexec
