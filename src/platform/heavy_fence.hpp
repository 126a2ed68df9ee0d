// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The rare side of an asymmetric fence: orders this thread's earlier stores before its later loads
/// and makes every other running thread pass a full fence, so that the frequent side needs only a
/// fence for the compiler (sync/asymmetric_fence.hpp).

namespace heddle::platform {

/// Registers this process for both fences below; true if the kernel has them. Call once per process
/// before the first one; harmless to repeat.
bool register_heavy_fences() noexcept;

void heavy_fence_process() noexcept;  ///< against the threads of this process
void heavy_fence_node() noexcept;     ///< against registered processes of this node, too

}  // namespace heddle::platform
