// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Launchers that are there, but in a way that is not understood: to be named, as several programs that are
/// alone each would give wrong results in silence.

namespace heddle::launch {

/// Throws std::runtime_error if one has started this program as one of several. To be asked when nothing
/// else says which job this is.
void refuse_other_launchers();

}  // namespace heddle::launch
