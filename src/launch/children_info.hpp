// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Info of MPI_Comm_spawn, as far as the process that spawns looks at it: how many, from which file, and what has no effect. The
/// rest is mpiexec's (cmd/mpiexec/children_info.hpp).

#include "launch/children.hpp"

namespace heddle::launch {

/// With the lines "KEY = VALUE" of the file that key `file` names. What stands in `info` itself wins. Throws
/// std::runtime_error if the file cannot be read.
InfoPairs complete_info(const InfoPairs& info);

/// Adds keys that are known from the standard and other libraries, have no effect here, and were not noted by this
/// process before.
void add_without_effect(const InfoPairs& info, std::vector<std::string>& keys);

/// The largest number of the set that is from 0 to `most`; -1: there is none. A set is triplets begin:end:stride
/// between commas, the last parts of which may be left out. Throws std::runtime_error if it is none.
int largest_of_set(const std::string& set, int most);

}  // namespace heddle::launch
