// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The values of --bind-to and --map-by, in the words of all families of launchers.
///
/// What has no meaning here and can be left out is noted in Job::ignored. What is no such value is a Failure that names the
/// option.

#include <string_view>

#include "job.hpp"

namespace heddle::mpiexec {

/// "core", "core:2", "l3cache", "core:overload-allowed".
void set_binding(Job& job, std::string_view option, std::string_view value);

/// "socket", "slot:PE=4", ":OVERSUBSCRIBE", "ppr:2:node".
void set_mapping(Job& job, std::string_view option, std::string_view value);

/// Notes that `what` has no effect; `why` may be empty.
void ignore(Job& job, std::string_view what, std::string_view why);

}  // namespace heddle::mpiexec
