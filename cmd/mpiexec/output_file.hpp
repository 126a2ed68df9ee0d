// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Files that take the output of ranks.

#include <set>
#include <string>

#include "unique_fd.hpp"

namespace heddle::mpiexec {

/// The name that `pattern` gives the file of `rank`: %r is the rank, %h the machine, %% a percent sign.
std::string name_of_output(const std::string& pattern, int rank);

class OutputFiles {
public:
    /// The file, open for writing, with the folders above it. It is empty at first; ranks of one name add to it.
    /// Throws Failure if that cannot be.
    UniqueFd open(const std::string& pattern, int rank);

private:
    std::set<std::string> opened_;
};

}  // namespace heddle::mpiexec
