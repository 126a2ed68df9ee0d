// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Context ids for new communicators.
///
/// Two communicators that a process takes part in must never have the same context id, also while
/// several threads of it make communicators at once, from different parents with different, overlapping
/// groups (P3). Taking turns by lock or mask, as MPICH does, needs an order among the parents, or
/// deadlocks. Here nothing is negotiated: the ids are divided among the processes beforehand, process
/// r of n having the pairs 3 + r, 3 + r + n, 3 + r + 2n, ... Of the processes that a new communicator
/// will have, the first takes one of its own and tells the others.
///
/// Unique         an id is taken once in its life, under its owner's lock, and by nobody else.
/// No deadlock    the lock is held while a number is counted up. All that is waited for is a message
///                from the first member, which waits for nobody before it sends it.
/// Exhaustion     with n processes each makes about 2^29 / n communicators as first member; then take()
///                answers 0. Ids of freed communicators are not used again: nobody could say that
///                no message to one is on its way without asking everybody.
/// Processes that are started later (MPI_Comm_spawn) will need numbers of their own: n is of the job.

#include <cstdint>
#include <mutex>
#include <vector>

namespace heddle::objects {

/// Context ids come in pairs: an even one for point-to-point, the odd one after it for collectives.
inline constexpr std::uint32_t library_context = 0;  ///< of the library itself (MPI_Finalize)
inline constexpr std::uint32_t world_context = 2;
inline constexpr std::uint32_t self_context = 4;
inline constexpr std::uint32_t first_free_context = 6;
inline constexpr std::uint32_t most_context = 0x3ffffffe;
/// With this bit: of the local groups of an intercommunicator, which have no process in common.
inline constexpr std::uint32_t local_group_context = 0x40000000;

class Contexts {
public:
    Contexts(std::int32_t rank, std::int32_t size) noexcept
        : next_(first_free_context + 2 * static_cast<std::uint64_t>(rank)),
          step_(2 * static_cast<std::uint64_t>(size)) {}

    /// An even id that no communicator has or had; 0 if there is none left.
    std::uint32_t take() {
        std::lock_guard guard(lock_);
        if (!spare_.empty()) {
            const std::uint32_t context = spare_.back();
            spare_.pop_back();
            return context;
        }
        if (next_ > most_context) return 0;
        const auto context = static_cast<std::uint32_t>(next_);
        next_ += step_;
        return context;
    }
    /// Of an id that was taken and that no communicator has got.
    void give_back(std::uint32_t context) {
        if (context == 0) return;
        std::lock_guard guard(lock_);
        spare_.push_back(context);
    }

private:
    std::mutex lock_;
    std::uint64_t next_;
    const std::uint64_t step_;
    std::vector<std::uint32_t> spare_;
};

}  // namespace heddle::objects
