// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The launchers that are understood, in the order of the search, a line each. Heddle's mpiexec
/// speaks PMI-1, too, to programs that do not take the memory that it hands down.

#include <array>
#include <memory>

#include "launch/launcher.hpp"

namespace heddle::launch {

/// Finds a launcher by a descriptor, PMI_FD: Hydra, Slurm's pmi2. Like the other two, returns
/// nullptr if there is none.
std::unique_ptr<Launcher> find_pmi();
/// Finds one by PMIX_NAMESPACE and PMIX_RANK: PRRTE, Slurm's pmix. Needs libpmix.so.2.
std::unique_ptr<Launcher> find_pmix();
/// Finds one by a port to be called at, PMI_PORT: Hydra, mpiexec -pmi-port.
std::unique_ptr<Launcher> find_pmi_port();

inline constexpr std::array launchers{find_pmi, find_pmix, find_pmi_port};

}  // namespace heddle::launch
