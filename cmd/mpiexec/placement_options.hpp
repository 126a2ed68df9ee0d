// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The values of --bind-to and --map-by, in the words of all families of launchers.
///
/// Values without a meaning here are noted in Job::ignored if they can be left out. Other wrong
/// values are a Failure that names the option.

#include <string_view>

#include "job.hpp"

namespace heddle::mpiexec {

/// Sets the binding, such as "core", "core:2", "l3cache", "core:overload-allowed".
void set_binding(Job& job, std::string_view option, std::string_view value);

/// Sets the mapping, such as "socket", "slot:PE=4", ":OVERSUBSCRIBE", "ppr:2:node".
void set_mapping(Job& job, std::string_view option, std::string_view value);

/// Notes that `what` has no effect; `why` may be empty.
void ignore(Job& job, std::string_view what, std::string_view why);

}  // namespace heddle::mpiexec
