// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The keeper's record of a rank.

#include <sys/types.h>

#include <cstddef>
#include <optional>

namespace heddle::mpiexec {

struct Rank {
    std::size_t program = 0;    ///< index into Job::programs
    pid_t pid = 0;              ///< also its process group; 0 if it was not started
    std::optional<int> status;  ///< the value of waitpid(), once it has ended

    [[nodiscard]] bool alive() const { return pid > 0 && !status; }
};

}  // namespace heddle::mpiexec
