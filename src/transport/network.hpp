// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The network between hosts, as far as a build without it knows of it, too.

#include <string>

#include "tool/settings.hpp"

namespace heddle::transport {

/// One line for `heddle info`: which network a process with these settings would use, and why; or why none.
std::string describe_network(const tool::Settings& settings);

}  // namespace heddle::transport
