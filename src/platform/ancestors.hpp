// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The ancestors of this process.

#include <string>
#include <string_view>

namespace heddle::platform {

/// Returns a file whose path contains `part` and that the nearest possible ancestor has mapped.
/// Returns an empty text if none has, or none that this process may look at.
std::string file_of_ancestor(std::string_view part);

}  // namespace heddle::platform
