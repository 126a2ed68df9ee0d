// SPDX-License-Identifier: BSD-3-Clause
#include "platform/tick_rate.hpp"

#include "platform/cpu.hpp"

namespace heddle::platform {
namespace {

using Clock = std::chrono::steady_clock;
using Nanoseconds = std::chrono::duration<double, std::nano>;

#if defined(__aarch64__)
double length_of_tick() noexcept {
    std::uint64_t per_second;
    asm volatile("mrs %0, cntfrq_el0" : "=r"(per_second));
    return 1e9 / static_cast<double>(per_second);
}
#else
/// x86 has it in CPUID in some machines only, and hypervisors leave it out.
double length_of_tick() noexcept {
    constexpr std::chrono::milliseconds enough{3};
    const Clock::time_point start = Clock::now();
    const std::uint64_t first = ticks();
    Clock::duration passed{};
    while ((passed = Clock::now() - start) < enough) pause();
    return Nanoseconds(passed).count() / static_cast<double>(ticks() - first);
}
#endif

}  // namespace

std::chrono::nanoseconds duration_of(std::uint64_t ticks) noexcept {
    static const double length = length_of_tick();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
        Nanoseconds(static_cast<double>(ticks) * length));
}

}  // namespace heddle::platform
