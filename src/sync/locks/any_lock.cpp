// SPDX-License-Identifier: BSD-3-Clause
#include "sync/locks/any_lock.hpp"

#include <array>
#include <new>
#include <type_traits>

#include "platform/cpu.hpp"
#include "platform/tick_rate.hpp"
#include "sync/locks/all.hpp"

namespace heddle::sync::locks {
namespace {

template <class L>
class Chosen final : public PathLock {
    using Own = typename L::Node;
    static_assert(sizeof(Own) <= sizeof(Node) && alignof(Own) <= alignof(Node));
    static_assert(std::is_trivially_destructible_v<Own>, "nobody destroys it");

public:
    using PathLock::lock;
    using PathLock::lock_for;

    void lock(Path path, Node& me) noexcept override { lock_on(lock_, path, *::new (me.room) Own); }
    bool try_lock(Path path, Node& me) noexcept override {
        return try_lock_on(lock_, path, *::new (me.room) Own);
    }
    bool lock_for(Path path, Node& me, std::chrono::nanoseconds limit) noexcept override {
        return lock_on_for(lock_, path, *::new (me.room) Own, limit);
    }
    void unlock(Node& me) noexcept override {
        lock_.unlock(*std::launder(reinterpret_cast<Own*>(me.room)));
    }
    std::string_view name() const noexcept override { return L::name; }

private:
    L lock_;
};

template <class... L>
constexpr std::array<const char*, sizeof...(L)> names_of(List<L...>) {
    return {L::name.data()...};
}

template <class... L>
std::unique_ptr<PathLock> make(std::string_view name, List<L...>) {
    std::unique_ptr<PathLock> made;
    (void)((name == L::name && (made = std::make_unique<Chosen<L>>(), true)) || ...);
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
