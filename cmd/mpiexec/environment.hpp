// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The environment of a rank: the launcher's variables as the rules select them, and those that
/// name the rank.

#include <string>
#include <string_view>
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

    /// Sets the variable if it is not set.
    void set_default(const std::string& name, const std::string& value);

    /// Returns the variable's value, or an empty text if it is not set.
    [[nodiscard]] std::string_view value(std::string_view name) const;

    /// Returns the entries for execve(). They are valid until the next set().
    [[nodiscard]] std::vector<char*> pointers();

private:
    std::vector<std::string> entries_;  ///< NAME=VALUE, each name once
};

}  // namespace heddle::mpiexec
