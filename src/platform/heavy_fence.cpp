// SPDX-License-Identifier: BSD-3-Clause
#include "platform/heavy_fence.hpp"

#include <atomic>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace heddle::platform {
namespace {

long membarrier(int command) noexcept { return syscall(SYS_membarrier, command, 0, 0); }

}  // namespace

bool register_heavy_fences() noexcept {
    return membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0 &&
           membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED) == 0;
}

void heavy_fence_process() noexcept {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
}

void heavy_fence_node() noexcept {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED);
}

}  // namespace heddle::platform
