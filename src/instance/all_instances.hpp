// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// All instances of a process at once, and its wildcards. No other thread posts, matches or drains
/// meanwhile. For code that looks across instances (p2p/any_tag.hpp).
///
/// A thread that is alone in its process locks nothing (sync/lone_thread.hpp).

#include "instance/pool.hpp"
#include "sync/lone_thread.hpp"

namespace heddle::instance {

class [[nodiscard]] AllInstances {
public:
    AllInstances(Pool& pool, sync::LoneThread& lone_thread) noexcept
        : pool_(pool), lone_thread_(lone_thread), alone_(lone_thread.enter()) {
        if (alone_) [[likely]]
            return;
        pool_.order_lock().lock();  // so that no instance comes into use meanwhile
        pool_.each(pool_.used(), [](Instance& instance) { LockedInstance::lock(instance); });
    }
    ~AllInstances() {
        if (alone_) [[likely]] {
            lone_thread_.exit();
            return;
        }
        each([](LockedInstance instance) { instance.unlock(); });
        pool_.order_lock().unlock();
    }
    AllInstances(const AllInstances&) = delete;
    AllInstances& operator=(const AllInstances&) = delete;

    /// Returns the key to an instance, which may not have been in use yet.
    LockedInstance key(Instance& instance) const noexcept {
        const LockedInstance key(instance);
        if (!key->used) [[unlikely]]
            include(key);
        return key;
    }
    LockedInstance operator[](std::size_t number) const noexcept { return key(pool_[number]); }

    /// Calls visit(instance) for each that is in use.
    template <class Visit>
    void each(Visit&& visit) const {
        pool_.each(pool_.used(), [&](Instance& instance) { visit(LockedInstance(instance)); });
    }
    /// Calls visit(instance) for unused ones, too. No other thread looks there before this thread
    /// is done.
    template <class Visit>
    void each_possible(Visit&& visit) const {
        for (std::size_t i = 0; i < pool_.size(); ++i) visit(LockedInstance(pool_[i]));
    }
    /// Calls visit(instance, inlet) for each inlet that is polled.
    template <class Visit>
    void each_inlet(Visit&& visit) const {
        each([&](LockedInstance instance) {
            instance->each_polled([&](Inlet& inlet) { visit(instance, inlet); });
        });
    }

private:
    void include(LockedInstance instance) const noexcept {
        if (!alone_) LockedInstance::lock(instance.instance());
        pool_.mark_used(instance);
    }

    Pool& pool_;
    sync::LoneThread& lone_thread_;
    const bool alone_;
};

}  // namespace heddle::instance
