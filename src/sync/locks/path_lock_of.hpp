// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A lock protocol as a PathLock.

#include <new>
#include <type_traits>

#include "sync/locks/any_lock.hpp"
#include "sync/locks/lock.hpp"

namespace heddle::sync::locks {

template <Lock L>
class PathLockOf final : public PathLock {
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

}  // namespace heddle::sync::locks
