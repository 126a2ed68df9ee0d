// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The rare side of an asymmetric fence: orders this thread's earlier stores before its later loads
/// and makes every other running thread pass a full fence, so that the frequent side needs only a
/// fence for the compiler (sync/asymmetric_fence.hpp).
///
/// Errors         0, or the errno that it was refused with: ENOSYS by an old kernel, mostly EPERM by a filter,
///                ENOMEM by a kernel that has run out of memory several times in a row.

namespace heddle::platform {

/// Registers this process for both fences below, and tries them. Call once per process before the
/// first one; harmless to repeat.
int register_heavy_fences() noexcept;

int heavy_fence_process() noexcept;  ///< against the threads of this process
int heavy_fence_node() noexcept;     ///< against registered processes of this node, too

}  // namespace heddle::platform
