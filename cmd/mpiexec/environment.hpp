// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The environment of a rank: the launcher's as the rules have it, and what names the rank.

#include <string>
#include <vector>

#include "job.hpp"

namespace heddle::mpiexec {

class Environment {
public:
    /// Applies `first`, then `second` (a program's own rule wins) to the launcher's environment.
    /// Variables by which another launcher names a rank are handed down to its ranks only.
    Environment(const EnvironmentRule& first, const EnvironmentRule& second,
                bool of_other_launcher = false);

    void set(const std::string& name, const std::string& value);

    /// The same, unless the variable is there.
    void set_default(const std::string& name, const std::string& value);

    /// Empty if the variable is not there.
    [[nodiscard]] std::string value(const std::string& name) const;

    /// For execve(); valid until the next set().
    [[nodiscard]] std::vector<char*> pointers();

private:
    std::vector<std::string> entries_;  ///< NAME=VALUE, each name once
};

}  // namespace heddle::mpiexec
