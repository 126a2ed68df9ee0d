// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The parking lot of a process: which threads sleep, and which of them listens for the others.
///
/// A sleeping thread waits for a signal to its own slot. One of the threads, the leader, listens at
/// the doorbell of the process. It makes progress for all threads when the doorbell rings
/// (progress/wait.hpp).
///
/// Invariant      while threads are parked, one of them leads or has been signalled to try. The
///                order of steps keeps it. A thread enters the list before it tries to lead. A
///                leader gives up the lead before it locks the list to leave it. The thread that
///                locks the list second sees the other's step.

#include <cstdint>
#include <mutex>

#include "core/thread.hpp"
#include "sync/mutex.hpp"
#include "sync/orders.hpp"

namespace heddle::progress {

template <class World = sync::Native, class Thread = core::Thread>
class BasicLot {
public:
    /// State of the leader. A leader that is awake looks at every ring before it sleeps.
    enum class Leader : std::uint8_t { none, awake, asleep };

    void enter(Thread& thread) noexcept {
        std::lock_guard guard(lock_);
        thread.next = parked_;
        parked_ = &thread;
    }

    [[nodiscard]] bool try_lead() noexcept {
        Leader nobody = Leader::none;
        return leader_.compare_exchange_strong(nobody, Leader::awake, acq_rel, relaxed);
    }
    /// Called by the leader before it cools rings and after it slept. Locks of the rings' instances
    /// publish it.
    void set_leader_asleep(bool asleep) noexcept {
        leader_.store(asleep ? Leader::asleep : Leader::awake, relaxed);
    }
    Leader leader() const noexcept { return leader_.load(relaxed); }

    /// Takes the thread out of the list, and the lead from it if it leads. If no thread leads then,
    /// asks a parked thread to lead. That also holds for a thread that never led: it may have been
    /// asked, and goes away now.
    void leave(Thread& thread, bool leading) noexcept {
        if (leading) leader_.store(Leader::none, relaxed);  // the list's lock publishes it
        std::lock_guard guard(lock_);
        for (Thread** at = &parked_; *at != nullptr; at = &(*at)->next) {
            if (*at != &thread) continue;
            *at = thread.next;
            break;
        }
        if (parked_ != nullptr && leader() == Leader::none) parked_->slot.signal();
    }

private:
    sync::BasicMutex<World> lock_;
    Thread* parked_ = nullptr;
    typename World::template Atom<Leader> leader_{Leader::none};
};

using Lot = BasicLot<>;

}  // namespace heddle::progress
