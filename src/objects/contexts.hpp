// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Context ids for new communicators.
///
/// Two communicators that a process takes part in must never have the same context id. This also
/// holds while several of its threads make communicators at once, from different parents with
/// different, overlapping groups (P3). Taking turns by lock or mask, as MPICH does, needs an order
/// among the parents, or deadlocks. Here nothing is negotiated. The ids are divided among the
/// processes beforehand: process r of n owns the r-th of n equal ranges. One of the processes that
/// a new communicator will have takes one of its own ids and tells the others.
///
/// Unique         an id has at most one taker, under its owner's lock, until it has come back.
/// Coming back    give_back() is for ids that no message can carry any more: those that no
///                communicator ever got, and those that comm/recycling.hpp has checked.
/// No deadlock    the lock is held while a number is counted up. The only wait is for a message
///                from the taker, which waits for no process before it sends the message.
/// Exhaustion     each of n processes can have about 2^27 / n ids in use. Then take() returns 0.
/// Between jobs   ranges of different jobs overlap. Communicators with processes of several jobs
///                have ids of a range without an owner. One process proposes a random id, and it is
///                taken when none of the others has it in use (comm/agreement.hpp). It comes back
///                when all members have disconnected; after MPI_Comm_free it does not.

#include <array>
#include <cstdint>
#include <mutex>
#include <new>
#include <unordered_set>
#include <utility>
#include <vector>

#include "platform/random.hpp"

namespace heddle::objects {

/// Context ids come in pairs: an even one for point-to-point, the odd one after it for collectives.
inline constexpr std::uint32_t library_context = 0;  ///< of the library itself (MPI_Finalize)
/// The context of the library itself (comm/recycling.hpp).
inline constexpr std::uint32_t recycling_context = 1;
inline constexpr std::uint32_t world_context = 2;
inline constexpr std::uint32_t self_context = 4;
inline constexpr std::uint32_t first_free_context = 6;
inline constexpr std::uint32_t most_context = 0x0ffffffe;
/// The bit of communicators with processes of several jobs.
inline constexpr std::uint32_t context_between_jobs = 0x10000000;
/// The bit of partitioned communication (partitioned/partitioned.hpp).
inline constexpr std::uint32_t partitioned_context = 0x20000000;
/// The bit of the local groups of an intercommunicator, which have no process in common.
inline constexpr std::uint32_t local_group_context = 0x40000000;

/// The bit of messages from before there is any communicator (comm/by_tag.hpp).
inline constexpr std::uint32_t tagged_context = 0x80000000;

/// Returns all contexts in which there may be messages of a communicator whose id is `context`.
constexpr std::array<std::uint32_t, 6> contexts_of(std::uint32_t context) noexcept {
    const std::uint32_t local = context | local_group_context;
    const std::uint32_t partitioned = context | partitioned_context;
    return {context, context + 1, local, local + 1, partitioned, partitioned + 1};
}

class Contexts {
public:
    Contexts(std::int32_t rank, std::int32_t size) noexcept
        : range_((most_context - first_free_context) / 2 / static_cast<std::uint32_t>(size)),
          next_(first_free_context + 2 * range_ * static_cast<std::uint32_t>(rank)),
          end_(next_ + 2 * range_) {}

    /// Returns an even id that no communicator and no message has, or 0 if none is left.
    std::uint32_t take() {
        std::lock_guard guard(lock_);
        if (!spare_.empty()) {
            const std::uint32_t context = spare_.back();
            spare_.pop_back();
            return context;
        }
        if (next_ == end_) return 0;
        const std::uint32_t context = next_;
        next_ += 2;
        return context;
    }
    /// Returns the process that owns the id.
    std::int32_t owner_of(std::uint32_t context) const noexcept {
        return static_cast<std::int32_t>((context - first_free_context) / 2 / range_);
    }
    /// Returns how many different ids have been taken so far.
    std::uint32_t used() {
        std::lock_guard guard(lock_);
        return range_ - (end_ - next_) / 2;
    }
    /// Takes all ids, for tests of exhaustion.
    void use_up() {
        std::lock_guard guard(lock_);
        next_ = end_;
        spare_.clear();
    }
    void give_back(std::uint32_t context) {
        if (context == 0) return;
        std::lock_guard guard(lock_);
        spare_.push_back(context);
    }

private:
    const std::uint32_t range_;  ///< ids of each process
    std::mutex lock_;
    std::uint32_t next_;
    const std::uint32_t end_;
    std::vector<std::uint32_t> spare_;
};

/// The ids between jobs that this process has in use.
///
/// Thread safety  any thread.
class ContextsBetweenJobs {
public:
    /// Returns an even id that, with high probability, no process has in use.
    static std::uint32_t propose() noexcept {
        std::uint32_t random = 0;
        platform::random_bytes(&random, sizeof random);
        return context_between_jobs | (random & (context_between_jobs - 2));
    }
    /// Returns false if this process has it in use. Throws std::bad_alloc.
    bool reserve(std::uint32_t context) {
        const std::lock_guard guard(lock_);
        return in_use_.insert(context).second;
    }
    void give_back(std::uint32_t context) noexcept {
        const std::lock_guard guard(lock_);
        in_use_.erase(context);
    }

private:
    std::mutex lock_;
    std::unordered_set<std::uint32_t> in_use_;
};

/// Ids whose communicator is gone in this process, until their owners are told
/// (comm/recycling.hpp).
///
/// Thread safety  any thread, also with locks held: a leaf lock.
class FreedContexts {
public:
    struct Entry {
        std::uint32_t context;
        std::int32_t members;  ///< number of processes that had the communicator
    };
    void add(std::uint32_t context, std::int32_t members) noexcept {
        std::lock_guard guard(lock_);
        try {
            entries_.push_back({context, members});
        } catch (const std::bad_alloc&) {
            // The owner is not told: the id is not used again.
        }
    }
    std::vector<Entry> take() noexcept {
        std::lock_guard guard(lock_);
        return std::exchange(entries_, {});
    }

private:
    std::mutex lock_;
    std::vector<Entry> entries_;
};

}  // namespace heddle::objects
