// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The processes that have started this one.

#include <string>
#include <string_view>

namespace heddle::platform {

/// A file that the nearest of them has mapped, whose path contains `part`; empty if none has, or none that this
/// process may look at.
std::string file_of_ancestor(std::string_view part);

}  // namespace heddle::platform
