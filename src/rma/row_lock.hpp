// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Exclusion between accumulates of one target. A short one changes its elements by instructions of
/// the processor, and is atomic to others like it. A long row is changed by vector instructions,
/// which no other accumulate may meet.
///
/// Short          a thread counts itself in a slot, then looks for a thread with a row. If there is
///                one, it takes its count back, and takes the mutex instead.
/// Row            a thread takes the mutex, announces itself, then waits until all slots are empty.
///                A short accumulate takes less than a microsecond, so this wait is not a sleep.
/// Order          B1 and B2 are in one order of all threads (seq_cst). So a thread with a row sees
///                the count of a short accumulate, or that one sees the row.
/// Mutex          also guards elements that the processor has no instruction for. Those need no
///                slots: no short accumulate touches them.
/// Zeroes         are a free lock.

#include <array>
#include <cstddef>
#include <cstdint>

#include "sync/orders.hpp"
#include "sync/short_wait.hpp"

namespace heddle::rma {

template <class World, class Mutex>
class BasicRowLock {
public:
    /// Begins a short accumulate. `number` chooses a slot: that of the thread. Returns false if a
    /// thread has a row.
    [[gnu::always_inline]] bool try_enter(std::uint32_t number) noexcept {
        auto& inside = slots_[number % slots].inside;
        inside.fetch_add(1, seq_cst);  // B1
        if (rows_.load(seq_cst) == 0) [[likely]]
            return true;               // A1: pairs with R1
        inside.fetch_sub(1, relaxed);  // nothing was changed
        return false;
    }
    [[gnu::always_inline]] void leave(std::uint32_t number) noexcept {
        slots_[number % slots].inside.fetch_sub(1, release);  // R2: pairs with A2
    }

    /// A short accumulate, as long as it exists. Waits for a thread with a row.
    class Short {
    public:
        Short(BasicRowLock& lock, std::uint32_t number) noexcept
            : lock_(lock), number_(number), counted_(lock.try_enter(number)) {
            if (!counted_) [[unlikely]]
                lock_.mutex_.lock();
        }
        ~Short() {
            if (counted_) [[likely]]
                lock_.leave(number_);
            else
                lock_.mutex_.unlock();
        }
        Short(const Short&) = delete;
        Short& operator=(const Short&) = delete;

    private:
        BasicRowLock& lock_;
        const std::uint32_t number_;
        const bool counted_;
    };

    /// Begins a row.
    void lock() noexcept {
        mutex_.lock();
        rows_.store(1, seq_cst);  // B2
        for (Slot& slot : slots_)
            sync::wait_shortly_until<World>(  // A2: pairs with R2
                [&slot] { return slot.inside.load(seq_cst) == 0; });
    }
    void unlock() noexcept {
        rows_.store(0, release);  // R1: pairs with A1
        mutex_.unlock();
    }

    Mutex& mutex() noexcept { return mutex_; }

private:
    static constexpr std::size_t slots = 8;
    struct alignas(cache_line) Slot {
        typename World::template Atom<std::uint32_t> inside{0};  ///< short accumulates
    };

    alignas(cache_line) Mutex mutex_;
    /// 1 while a thread has a row. Others read it often, so the mutex is on another line.
    alignas(cache_line) typename World::template Atom<std::uint32_t> rows_{0};
    std::array<Slot, slots> slots_;
};

}  // namespace heddle::rma
