// SPDX-License-Identifier: BSD-3-Clause
#include "platform/refused_file.hpp"

#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

namespace heddle::platform {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t architecture = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t architecture = 0;
#endif

/// The places of the halves of openat()'s second argument in a filter's data.
constexpr std::uint32_t low_half = offsetof(seccomp_data, args) + 8;
constexpr std::uint32_t high_half = low_half + 4;
static_assert(std::endian::native == std::endian::little);

constexpr sock_filter load(std::uint32_t from) { return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, from); }
/// Goes on if the value is equal, else `otherwise` steps further.
constexpr sock_filter is(std::uint32_t value, std::uint8_t otherwise) {
    return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, otherwise);
}
constexpr sock_filter answer(std::uint32_t what) { return BPF_STMT(BPF_RET | BPF_K, what); }

}  // namespace

bool refuse_to_open(const char* path) noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(path);
    sock_filter steps[] = {
        load(offsetof(seccomp_data, arch)),
        is(architecture, 7),
        load(offsetof(seccomp_data, nr)),
        is(SYS_openat, 5),
        load(low_half),
        is(static_cast<std::uint32_t>(address), 3),
        load(high_half),
        is(static_cast<std::uint32_t>(std::uint64_t{address} >> 32), 1),
        answer(SECCOMP_RET_ERRNO | EACCES),
        answer(SECCOMP_RET_ALLOW),
    };
    const sock_fprog filter{sizeof steps / sizeof *steps, steps};
    // A process that may not gain rights may set filters without having any.
    return architecture != 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

}  // namespace heddle::platform
