// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The rare side of an asymmetric fence. It orders this thread's earlier stores before its later
/// loads. It also makes every other running thread pass a full fence. The frequent side then needs
/// only a fence for the compiler (sync/asymmetric_fence.hpp).
///
/// Errors         0, or the errno of the refusal: ENOSYS by an old kernel; mostly EPERM by a
///                filter; ENOMEM by a kernel that has run out of memory several times in a row.

namespace heddle::platform {

/// Registers this process for both fences below, and tries them. Call it once per process before
/// the first fence. Further calls are harmless.
int register_heavy_fences() noexcept;

int heavy_fence_process() noexcept;  ///< against the threads of this process
int heavy_fence_node() noexcept;     ///< against registered processes of this node, too

}  // namespace heddle::platform
