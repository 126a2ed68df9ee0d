// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// What the environment says about how the library works (HEDDLE_*).

#include "p2p/engine.hpp"

namespace heddle::tool {

/// Throws std::runtime_error that names the variable and the values it may have.
p2p::Settings engine_settings();

}  // namespace heddle::tool
