// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Translates mpiexec's options for the launchers that it hands jobs to, one row for each launcher.
///
/// An option that a launcher does not have is refused (Failure), never left out.

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "job.hpp"

namespace heddle::mpiexec {

struct Dialect {
    std::string_view program;  ///< name of the launcher's file
    /// Returns the command with all that concerns all programs. The job's ranks and hosts must be
    /// resolved.
    std::vector<std::string> (*begin)(const Job& job, const std::string& file);
    /// Returns the words before each program.
    std::vector<std::string> (*program_options)(const Job& job, const Program& program);
};

/// The launchers, in the order of the search.
extern const std::array<Dialect, 3> dialects;

}  // namespace heddle::mpiexec
