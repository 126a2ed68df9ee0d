// SPDX-License-Identifier: BSD-3-Clause
#include "platform/heavy_fence.hpp"

#include <cerrno>
#include <initializer_list>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace heddle::platform {
namespace {

constexpr int tries_without_memory = 10;

/// Calls membarrier(), which is also a full fence of the calling thread if it succeeds.
int membarrier(int command) noexcept {
    for (int tries = 1;; ++tries) {
        if (syscall(SYS_membarrier, command, 0, 0) == 0) return 0;
        if (errno != ENOMEM || tries == tries_without_memory) return errno;
        sched_yield();
    }
}

}  // namespace

int register_heavy_fences() noexcept {
    for (const int command :
         {MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED,
          MEMBARRIER_CMD_PRIVATE_EXPEDITED, MEMBARRIER_CMD_GLOBAL_EXPEDITED})
        if (const int error = membarrier(command); error != 0) return error;
    return 0;
}

int heavy_fence_process() noexcept { return membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED); }

int heavy_fence_node() noexcept { return membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED); }

}  // namespace heddle::platform
