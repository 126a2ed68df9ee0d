// SPDX-License-Identifier: BSD-3-Clause
#include "platform/futex.hpp"

#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace heddle::platform {
namespace {

int operation(int base, Scope scope) noexcept {
    return scope == Scope::process ? base | FUTEX_PRIVATE_FLAG : base;
}

}  // namespace

void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected, Scope scope,
                std::chrono::nanoseconds limit) noexcept {
    const timespec time{limit.count() / 1'000'000'000, limit.count() % 1'000'000'000};
    syscall(SYS_futex, &word, operation(FUTEX_WAIT, scope), expected,
            limit.count() > 0 ? &time : nullptr, nullptr, 0);
}

void futex_wake(std::atomic<std::uint32_t>& word, int count, Scope scope) noexcept {
    syscall(SYS_futex, &word, operation(FUTEX_WAKE, scope), count, nullptr, nullptr, 0);
}

}  // namespace heddle::platform
