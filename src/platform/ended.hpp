// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Finds out whether another process has ended.

namespace heddle::platform {

/// Returns true if the process has no memory any more: it ends, has ended, or is a zombie. Returns
/// false if that cannot be found out.
bool has_lost_its_memory(int pid) noexcept;

}  // namespace heddle::platform
