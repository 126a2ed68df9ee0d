// SPDX-License-Identifier: BSD-3-Clause
#include "platform/random.hpp"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <sys/auxv.h>
#include <sys/random.h>
#include <unistd.h>

namespace heddle::platform {
namespace {

/// Spreads differences in a few bits over all of them.
std::uint64_t mixed(std::uint64_t value) noexcept {
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9U;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebU;
    return value ^ (value >> 31);
}

void unlike_any_other(unsigned char* to, std::size_t bytes) noexcept {
    std::uint64_t state[2] = {0, 0};
    if (const auto* given = reinterpret_cast<const void*>(getauxval(AT_RANDOM)))
        std::memcpy(state, given, sizeof state);
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    state[0] ^=
        static_cast<std::uint64_t>(now.tv_nsec) << 32 ^ static_cast<std::uint64_t>(getpid());
    for (std::size_t i = 0; i < bytes; ++i) {
        state[0] = mixed(state[0] + state[1] + i);
        to[i] = static_cast<unsigned char>(state[0]);
    }
}

}  // namespace

void random_bytes(void* to, std::size_t bytes) noexcept {
    auto* at = static_cast<unsigned char*>(to);
    while (bytes > 0) {
        const ssize_t got = getrandom(at, bytes, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return unlike_any_other(at, bytes);
        at += got;
        bytes -= static_cast<std::size_t>(got);
    }
}

}  // namespace heddle::platform
