// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// All instances of a process at once, and its wildcards: nobody else posts, matches or drains meanwhile.
/// For what looks across instances (p2p/wildcards.hpp).
///
/// A thread that is alone in its process locks nothing (sync/lone_thread.hpp).

#include "p2p/engine.hpp"

namespace heddle::p2p {

class Engine::AllInstancesLock {
public:
    explicit AllInstancesLock(Engine& engine)
        : engine_(engine), alone_(engine.lone_thread_.enter()) {
        if (alone_) [[likely]]
            return;
        engine_.wildcards_.lock.lock();  // so that no instance comes into use meanwhile
        engine_.for_each(engine_.used(),
                         [](instance::Instance& instance) { instance.lock.lock(); });
    }
    ~AllInstancesLock() {
        if (alone_) [[likely]] {
            engine_.lone_thread_.exit();
            return;
        }
        engine_.for_each(engine_.used(),
                         [](instance::Instance& instance) { instance.lock.unlock(); });
        engine_.wildcards_.lock.unlock();
    }
    AllInstancesLock(const AllInstancesLock&) = delete;
    AllInstancesLock& operator=(const AllInstancesLock&) = delete;

    /// An instance that may not have been in use yet.
    void include(instance::Instance& instance) const {
        if (instance.used) return;
        if (!alone_) instance.lock.lock();
        engine_.mark_used(instance);
    }

private:
    Engine& engine_;
    const bool alone_;
};

}  // namespace heddle::p2p
