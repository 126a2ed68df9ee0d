// SPDX-License-Identifier: BSD-3-Clause
#include "platform/tick_rate.hpp"

#include <fstream>
#include <string>

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
/// Measures it. On x86 only some machines have it in CPUID, and hypervisors leave it out.
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

#if defined(__aarch64__)
/// Returns true, since the architecture has one counter. Threads cannot hand over to each other
/// within a few nanoseconds.
bool ticks_order_threads() noexcept {
    constexpr double longest_tick = 4;
    return length_of_tick() <= longest_tick;
}
#else
/// Returns whether the kernel uses the counter. It removes one that differs between cores, or
/// stops, from the clock sources.
bool ticks_order_threads() noexcept {
    std::ifstream file("/sys/devices/system/clocksource/clocksource0/available_clocksource");
    std::string name;
    bool known = false;
    while (file >> name) {
        if (name == "tsc") return true;
        known = true;
    }
    return !known;  // an unreadable file says nothing against it
}
#endif

std::chrono::nanoseconds duration_of(std::uint64_t ticks) noexcept {
    static const double length = length_of_tick();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
        Nanoseconds(static_cast<double>(ticks) * length));
}

}  // namespace heddle::platform
