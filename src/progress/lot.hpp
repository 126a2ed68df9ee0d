// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The parking lot of a process: who sleeps, and who among them listens for the others.
///
/// A sleeping thread waits for a signal to its own slot. One of them, the leader, listens at the
/// doorbell of the process and makes progress for all when it rings (progress/wait.hpp).
///
/// Invariant      while threads are parked, one of them leads or has been signalled to try. Kept by
///                the order of steps: a thread enters the list before it tries to lead, and a leader
///                gives up the lead before it locks the list to leave it. Whichever of the two comes
///                second in the list's lock sees the other's step.

#include <cstdint>
#include <mutex>

#include "core/thread.hpp"
#include "sync/mutex.hpp"
#include "sync/orders.hpp"

namespace heddle::progress {

template <class World = sync::Native, class Thread = core::Thread>
class BasicLot {
public:
    /// What the leader is about; a leader that is awake looks at every ring before it sleeps.
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
    /// By the leader, before it cools rings (whose instances' locks publish it) and after it slept.
    void set_leader_asleep(bool asleep) noexcept {
        leader_.store(asleep ? Leader::asleep : Leader::awake, relaxed);
    }
    Leader leader() const noexcept { return leader_.load(relaxed); }

    /// Takes the thread out of the list, and the lead from it if it has it. If nobody leads then, a
    /// parked thread is asked to: also one that never led may have been asked and goes away now.
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
