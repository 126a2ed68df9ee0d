// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Gives back the pages of rings to other processes that are no longer used.
///
/// A ring comes to hold 32 KiB, and there is one for each pair of processes and each instance.
/// After one exchange of all processes with each other, a node of many processes holds gigabytes of
/// empty rings.
///
/// Decision       by the sender of a ring. It owns all pages except those with messages in them
///                (node/ring.hpp). A ring is idle if its receiver has given nothing back between
///                two rounds, `time` apart.
/// Rounds         by the leader of the threads that sleep, which wakes for it. No thread looks
///                while threads run, and none wakes in vain twice. When a round has found no
///                movement, the next one waits until a thread goes to sleep again.
/// Cost           none for a process with few rings, and none for a message. A round reads one line
///                for each ring. An idle ring is locked and costs a system call, once until it is
///                used again. Then its pages are made anew.
/// Not idle       a ring with messages that its receiver has not read keeps their pages. It is
///                looked at again when a thread goes to sleep.
/// Thread safety  stir() from any thread; tend() and drop_all() from any thread that holds no lock.
/// Errors         if the kernel cannot drop pages of the node's file, that is found once and not
///                tried again.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>

#include "core/thread.hpp"
#include "instance/pool.hpp"

namespace heddle::p2p {

class IdleRings {
public:
    /// Number of rings, a megabyte, that are worth a look.
    static constexpr std::uint32_t worth_a_look = 32;

    /// Looks at rings every `time`. If it is 0, pages are kept.
    IdleRings(instance::Pool& pool, const node::Rings& rings, std::int32_t rank,
              std::chrono::nanoseconds time) noexcept
        : pool_(pool), rings_(rings), rank_(rank), time_(time), possible_(time.count() != 0) {}

    /// Called when a thread that may have sent is about to sleep. Returns true if a leader that
    /// already sleeps must be woken.
    [[nodiscard]] bool stir() noexcept {
        if (stirred_.load(relaxed) || !are_worth_a_look()) [[likely]]
            return false;
        return !stirred_.exchange(true, seq_cst);  // R1: pairs with A1, through the bell
    }
    /// Called by the leader, which has announced that it sleeps. Does a part of a round if one is
    /// due. Returns how long the leader may sleep.
    std::chrono::nanoseconds tend(core::Thread& thread) noexcept;
    /// Called when the process stops sending. Drops everything that can be dropped.
    void drop_all(core::Thread& thread) noexcept;

private:
    /// Keeps the leader busy for only a fraction of a millisecond at a time.
    static constexpr int most_at_once = 16;
    static constexpr std::chrono::milliseconds pause{2};

    bool are_worth_a_look() const noexcept {
        return pool_.open_channel_count() >= worth_a_look && possible_.load(relaxed);
    }
    bool look(core::Thread& thread, instance::Channel& channel) noexcept;
    bool drop(core::Thread& thread, instance::Channel& channel) noexcept;

    instance::Pool& pool_;
    const node::Rings& rings_;
    const std::int32_t rank_;
    const std::chrono::nanoseconds time_;
    std::atomic<bool> possible_;
    std::atomic<bool> stirred_{false};
    std::mutex lock_;                  ///< guards the members below
    std::chrono::nanoseconds due_{0};  ///< when the round begins or goes on
    /// The channel at which it goes on; nullptr: the round is over.
    instance::Channel* next_ = nullptr;
    bool moved_ = false;  ///< a ring has been used since the last round
};

}  // namespace heddle::p2p
