// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Whether another process has ended.

namespace heddle::platform {

/// Whether the process has no memory any more: it ends, has ended, or is a zombie. False if that cannot be found out.
bool has_lost_its_memory(int pid) noexcept;

}  // namespace heddle::platform
