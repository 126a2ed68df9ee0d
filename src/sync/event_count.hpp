// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// An event count (Reed and Kanodia, 1979): sleepers wait for a condition that another thread, or
/// another process, makes true before it notifies.
///
/// Contract       Sleeper: wait_for(holds).   Notifier: make it hold; notify_all().
///                No notification is missed: the sleeper sees that it holds, or is woken.
/// Order          both sides change `announced_` by an atomic operation. These have one order. The
///                notifier comes later, and sees the sleeper. Or it comes earlier, and the sleeper
///                sees all that the notifier has done before.
/// Cost           of notify_all() without sleepers: one atomic operation. After a sleep that ends
///                by itself, one notification makes a system call in vain.

#include <atomic>
#include <cstdint>

#include "sync/native.hpp"
#include "sync/orders.hpp"

namespace heddle::sync {

/// Valid where all bytes are zero.
template <class World = NativeNode>
class BasicEventCount {
public:
    /// Sleeps until notify_all(), for at most `limit`, unless `holds()`. May return early.
    template <class Condition, class Duration>
    void wait_for(Condition&& holds, Duration limit) noexcept {
        // Before E1: a notification that takes the announcement away changes this count.
        const std::uint32_t notifications = count_.load(acquire);  // E3: pairs with E4
        announced_.exchange(1, acq_rel);                           // E1: pairs with E2
        if (!holds()) World::wait_for(count_, notifications, limit);
    }
    /// Wakes all sleepers. Returns false if there were none since the last call.
    bool notify_all() noexcept {
        if (announced_.exchange(0, acq_rel) == 0) return false;  // E2: pairs with E1
        count_.fetch_add(1, release);                            // E4: pairs with E3
        World::wake_all(count_);
        return true;
    }

private:
    typename World::template Atom<std::uint32_t> announced_{0}, count_{0};
};

using EventCount = BasicEventCount<>;

}  // namespace heddle::sync
