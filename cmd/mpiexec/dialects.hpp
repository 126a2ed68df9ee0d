// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// What mpiexec's options are called by the launchers that it hands jobs to: a row each.
///
/// Whatever a launcher has no word for is refused (Failure), never left out.

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "job.hpp"

namespace heddle::mpiexec {

struct Dialect {
    std::string_view program;  ///< name of the launcher's file
    /// The command with what concerns all programs, for a job whose ranks and hosts are settled.
    std::vector<std::string> (*begin)(const Job& job, const std::string& file);
    /// What comes before each program.
    std::vector<std::string> (*program_options)(const Job& job, const Program& program);
};

/// In the order in which they are looked for.
extern const std::array<Dialect, 3> dialects;

}  // namespace heddle::mpiexec
