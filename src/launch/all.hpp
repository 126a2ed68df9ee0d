// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The launchers that are understood, in the order in which they are looked for: a line each. Heddle's mpiexec
/// speaks PMI-1, too, to programs that do not take the memory that it hands down.

#include <array>
#include <memory>

#include "launch/launcher.hpp"

namespace heddle::launch {

/// By a descriptor, PMI_FD: Hydra, Slurm's pmi2. Each answers nullptr if it is not there.
std::unique_ptr<Launcher> find_pmi();
/// By PMIX_NAMESPACE and PMIX_RANK: PRRTE, Slurm's pmix. Needs libpmix.so.2.
std::unique_ptr<Launcher> find_pmix();
/// By a port to be called at, PMI_PORT: Hydra, mpiexec -pmi-port.
std::unique_ptr<Launcher> find_pmi_port();

inline constexpr std::array launchers{find_pmi, find_pmix, find_pmi_port};

}  // namespace heddle::launch
