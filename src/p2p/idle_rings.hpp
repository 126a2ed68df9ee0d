// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Rings to other processes that nobody uses any more give their pages back.
///
/// A ring comes to hold 32 KiB, and there is one for each pair of processes and each instance: after one exchange of
/// everybody with everybody a node of many processes holds gigabytes that nothing lies in.
///
/// Who decides    the sender of a ring, whose pages are all but those with messages in them (node/ring.hpp). A
///                ring is idle if its receiver has given nothing back between two rounds, `time` apart.
/// Who looks      the leader of the threads that sleep, which gets up for it. Nobody looks while threads run, and
///                nobody gets up in vain twice: when a round has found that nothing moved, there is no
///                other one before a thread has gone to sleep again.
/// Cost           none for a process with few rings, and none for a message. A round reads one line for each ring.
///                A ring that is idle is locked and costs a system call, once until it has been used again; then
///                its pages are made anew.
/// Not idle       a ring with messages that its receiver has not read keeps their pages. It is looked at again
///                when a thread goes to sleep.
/// Thread safety  stir() from any thread; tend() and drop_all() from any thread that holds no lock.
/// Errors         where the kernel cannot drop pages of the node's file, this is found out once and not tried again.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>

#include "core/thread.hpp"
#include "instance/pool.hpp"

namespace heddle::p2p {

class IdleRings {
public:
    /// So many rings, a megabyte, are worth a look.
    static constexpr std::uint32_t worth_a_look = 32;

    /// `time`: 0: pages are kept.
    IdleRings(instance::Pool& pool, const node::Rings& rings, std::int32_t rank,
              std::chrono::nanoseconds time) noexcept
        : pool_(pool), rings_(rings), rank_(rank), time_(time), possible_(time.count() != 0) {}

    /// A thread that may have sent is going to sleep. True: a leader that sleeps already is to be woken.
    [[nodiscard]] bool stir() noexcept {
        if (stirred_.load(relaxed) || !are_worth_a_look()) [[likely]]
            return false;
        return !stirred_.exchange(true, seq_cst);  // R1: pairs with A1, by way of the bell
    }
    /// By the leader, which has announced that it sleeps: a part of a round, if it is time for one. Answers how long it
    /// may sleep.
    std::chrono::nanoseconds tend(core::Thread& thread) noexcept;
    /// The process stops sending: everything that can be dropped is.
    void drop_all(core::Thread& thread) noexcept;

private:
    /// The leader is away for a fraction of a millisecond at a time.
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
    std::mutex lock_;                    ///< of what follows
    std::chrono::nanoseconds due_{0};    ///< when the round begins or goes on
    instance::Channel* next_ = nullptr;  ///< where it goes on; nullptr: it is over
    bool moved_ = false;                 ///< a ring has been used since the last round
};

}  // namespace heddle::p2p
