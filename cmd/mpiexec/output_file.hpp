// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Files for the output of ranks.

#include <set>
#include <string>

#include "unique_fd.hpp"

namespace heddle::mpiexec {

/// Returns the name that `pattern` gives the file of `rank`: %r is the rank, %h the machine, %% a
/// percent sign.
std::string name_of_output(const std::string& pattern, int rank);

class OutputFiles {
public:
    /// Returns the file, open for writing, and makes the folders above it. It is empty at first.
    /// Ranks with the same name append to it. Throws Failure if it cannot be opened.
    UniqueFd open(const std::string& pattern, int rank);

private:
    std::set<std::string> opened_;
};

}  // namespace heddle::mpiexec
