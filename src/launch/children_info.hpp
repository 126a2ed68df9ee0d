// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Info of MPI_Comm_spawn, as far as the process that spawns looks at it: numbers, files, and keys
/// without effect. mpiexec looks at the rest (cmd/mpiexec/children_info.hpp).

#include "launch/children.hpp"

namespace heddle::launch {

/// Adds the lines "KEY = VALUE" of the file that key `file` names. Keys in `info` itself win.
/// Throws std::runtime_error if the file cannot be read.
InfoPairs complete_info(const InfoPairs& info);

/// Adds keys of the standard and of other libraries that have no effect here. Keys that this
/// process has noted before are left out.
void add_without_effect(const InfoPairs& info, std::vector<std::string>& keys);

/// Returns the largest number of the set that is from 0 to `most`, or -1 if there is none. A set is
/// triplets begin:end:stride between commas, whose last parts may be left out. Throws
/// std::runtime_error if the text is no set.
int largest_of_set(const std::string& set, int most);

}  // namespace heddle::launch
