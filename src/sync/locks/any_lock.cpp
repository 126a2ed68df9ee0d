// SPDX-License-Identifier: BSD-3-Clause
#include "sync/locks/any_lock.hpp"

#include <array>

#include "platform/cpu.hpp"
#include "platform/tick_rate.hpp"
#include "sync/locks/all.hpp"
#include "sync/locks/path_lock_of.hpp"

namespace heddle::sync::locks {
namespace {

template <class... L>
constexpr std::array<const char*, sizeof...(L)> names_of(List<L...>) {
    return {L::name.data()...};  // each ends with a NUL: lock.hpp
}

template <class... L>
std::unique_ptr<PathLock> make(std::string_view name, List<L...>) {
    std::unique_ptr<PathLock> made;
    (void)((name == L::name && (made = std::make_unique<PathLockOf<L>>(), true)) || ...);
    return made;
}

}  // namespace

std::chrono::nanoseconds LockStatistics::waited() const noexcept {
    return platform::duration_of(ticks_waited);
}

void PathLock::lock(Path path, Node& me, LockStatistics& statistics) noexcept {
    if (!try_lock(path, me)) {
        const std::uint64_t before = platform::ticks();
        lock(path, me);
        statistics.ticks_waited += platform::ticks() - before;
        ++statistics.contended;
    }
    ++statistics.acquisitions;
}

bool PathLock::lock_for(Path path, Node& me, std::chrono::nanoseconds limit,
                        LockStatistics& statistics) noexcept {
    bool locked = try_lock(path, me);
    if (!locked) {
        const std::uint64_t before = platform::ticks();
        locked = limit.count() > 0 && lock_for(path, me, limit);
        statistics.ticks_waited += platform::ticks() - before;
        ++statistics.contended;
    }
    statistics.acquisitions += locked ? 1 : 0;
    return locked;
}

std::span<const char* const> path_lock_names() noexcept {
    static constexpr auto names = names_of(Locks<>{});
    return names;
}

std::unique_ptr<PathLock> make_path_lock(std::string_view name) { return make(name, Locks<>{}); }

}  // namespace heddle::sync::locks
