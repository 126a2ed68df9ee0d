// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The shared lock of all targets of a window at once (MPI_Win_lock_all): one word, as long as nobody locks a target
/// exclusively.
///
/// Whoever wants all targets is counted in the word, and asks none of them. A writer, who has just been admitted to
/// its target, closes the word to further ones, and waits until those who are counted have left; while the word is
/// closed, writers only look at it. Who wants all targets then takes the shared lock of each. With all of them it
/// knows that there is no writer: it opens the word again, is counted, and lets go of the targets.
///
/// Sleeping       as in window_lock.hpp. A writer leaves its rank in a place beside its target. Who was the last to be
///                counted in a closed word takes the ranks out of all places and tells them.
/// Invariants     (1) the word is opened by holders of all shared locks only, so that it stays closed while there is
///                    a writer who has seen it so. (2) nobody is counted in a closed word who was not before.
/// Zeroes         are an open word in which nobody is counted.

#include <atomic>
#include <cstdint>

#include "sync/native.hpp"
#include "sync/orders.hpp"

namespace heddle::rma {

template <class World = sync::NativeNode>
class BasicWholeLock {
public:
    using Place = typename World::template Atom<std::uint32_t>;
    static constexpr std::uint32_t nobody = 0;  ///< in a place; else rank + 1

    /// False: the word is closed, and nothing was changed.
    [[nodiscard]] bool enter() noexcept {
        std::uint32_t word = word_.load(relaxed);
        while ((word & closed) == 0)
            // A1: pairs with R1, where a writer's stores are older than the word that is open again.
            if (word_.compare_exchange_strong(word, word + 1, acquire, relaxed)) return true;
        return false;
    }
    /// By a holder of the shared locks of all targets, who may let go of them then.
    void enter_and_open() noexcept {
        std::uint32_t word = word_.load(relaxed);
        while (!word_.compare_exchange_strong(word, (word & ~closed) + 1, seq_cst, relaxed)) {
        }  // R1: publishes what writers did whose locks this one has had
    }
    /// True: writers may wait, all of whom are to be told.
    [[nodiscard]] bool leave() noexcept {
        // R2: publishes what was done, to a writer who sees that nobody is left. B2: pairs with B1.
        return word_.fetch_sub(1, seq_cst) == (closed | 1);
    }

    /// By a writer who has been admitted to its target. False: it is to wait until is_empty().
    [[nodiscard]] bool close() noexcept {
        // Not older than the opening by any holder of this target's lock, which has let go of it since.
        std::uint32_t word = word_.load(seq_cst);  // A2: pairs with R2
        if ((word & closed) == 0) word = word_.fetch_or(closed, seq_cst);
        return (word & ~closed) == 0;
    }
    bool is_empty() const noexcept { return (word_.load(seq_cst) & ~closed) == 0; }  // A2, B1

    /// Leaves the rank to be told. The caller looks then whether the word is_empty().
    static void wait_in_place(Place& place, std::int32_t rank) noexcept {
        place.store(static_cast<std::uint32_t>(rank) + 1, seq_cst);  // B1: pairs with B2
    }
    /// False: somebody has taken the rank, and tells it.
    [[nodiscard]] static bool stop_waiting(Place& place) noexcept {
        return place.exchange(nobody, acq_rel) != nobody;
    }
    /// The rank of who waits there, for whom leave() has answered true; negative: nobody does.
    static std::int32_t take_waiter(Place& place) noexcept {
        if (place.load(seq_cst) == nobody) return -1;  // B2
        return static_cast<std::int32_t>(place.exchange(nobody, acq_rel)) - 1;
    }

private:
    static constexpr std::uint32_t closed = std::uint32_t{1} << 31;
    typename World::template Atom<std::uint32_t> word_{0};  ///< how many are counted, and `closed`
};

using WholeLock = BasicWholeLock<>;

}  // namespace heddle::rma
