// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Parking: a thread sleeps until the one event that it waits for.
///
/// A Slot belongs to one thread. Its owner announces the slot in the request that it waits for.
/// Then it looks once more whether the event has happened, and sleeps. The thread that makes the
/// event happen signals the slot. A signal that comes early or without need makes the next sleep
/// return at once.
///
/// The leader of a process sleeps on the doorbell of its process instead. That lies in memory
/// shared with the senders of other processes. A signal to its slot rings that bell.
///
/// Thread safety  prepare() and sleep() by the owner, signal() by any thread of the process.
/// Lifetime       slots are never unmapped: a late signal meets a slot, if only a reused one.

#include <algorithm>
#include <chrono>

#include "sync/native.hpp"

namespace heddle::sync {

/// Limit of a sleep that lasts until a ring or a signal ends it.
inline constexpr std::chrono::nanoseconds no_limit = std::chrono::nanoseconds::max();

/// The bell of a process. Any process of the node may ring it.
template <class World = NativeNode>
class BasicDoorbell {
public:
    /// Announces the sleeper, who then looks for work, then calls sleep().
    void prepare() noexcept { word_.store(asleep, seq_cst); }  // B1: pairs with B2
    void cancel() noexcept { word_.store(awake, relaxed); }    // an unneeded ring does no harm
    /// Sleeps until the bell rings, and returns true. Returns false after at most `limit`, or after
    /// at most a nap if a ring may be missed.
    bool sleep(Naps& naps, std::chrono::nanoseconds limit = no_limit) noexcept {
        bool rang = true;
        while (rang && word_.load(acquire) == asleep) {
            const bool certain =
                World::Fence::available() && unfenced_.load(seq_cst) == 0;  // B4: pairs with B3
            if (certain && limit == no_limit) {
                World::wait(word_, asleep);
            } else {
                World::wait_for(word_, asleep, certain ? limit : std::min(limit, naps.next()));
                rang = word_.load(acquire) != asleep;
            }
        }
        if (rang) naps.start_over();
        cancel();
        return rang;
    }
    /// Sleeps for at most `limit`. The caller looks around whatever woke it.
    template <class Duration>
    void sleep_for(Duration limit) noexcept {
        if (word_.load(acquire) == asleep) World::wait_for(word_, asleep, limit);
        cancel();
    }
    /// Rings the bell, after the caller has made work visible (by a sequentially consistent store).
    void ring() noexcept {
        // B2: pairs with B1; either this sees the sleeper or the sleeper sees the work.
        if (word_.load(seq_cst) != asleep) return;
        rung_at_.store(World::now().count(), relaxed);  // a hint
        if (word_.exchange(awake, seq_cst) == asleep) World::wake_one(word_);
    }
    /// Returns when it was last rung for a sleeper, on the clock of World::now().
    std::chrono::nanoseconds rung_at() const noexcept {
        return std::chrono::nanoseconds(rung_at_.load(relaxed));
    }
    /// Announces that rings may be missed from now on, and wakes a sleeper to see that. A process
    /// that fences of others do not reach calls it before it makes any work visible.
    void expect_missed_rings() noexcept {
        unfenced_.store(
            1, seq_cst);  // B3: pairs with B4, as B2 with B1 for a sleeper who has not seen it
        ring();
    }

private:
    static constexpr std::uint32_t awake = 0;  // zeroed shared memory is a valid bell
    static constexpr std::uint32_t asleep = 1;

    typename World::template Atom<std::uint32_t> word_{0};
    typename World::template Atom<std::int64_t> rung_at_{0};
    typename World::template Atom<std::uint32_t> unfenced_{0};
};

template <class World = Native, class BellWorld = NativeNode>
class BasicSlot {
public:
    using Bell = BasicDoorbell<BellWorld>;

    /// Forgets earlier signals. The owner then looks whether the event has happened, and sleeps. It
    /// is an exchange, so that this look sees what a forgotten signaller did (A2: pairs with R1).
    void prepare() noexcept { word_.exchange(running, acq_rel); }

    /// Sleeps until signal(), at most for `limit`; returns at once if it has come since prepare().
    /// If a signal may be missed, it sleeps at most for a nap.
    void sleep(Naps& naps, std::chrono::nanoseconds limit = no_limit) noexcept {
        std::uint32_t expected = running;
        // A1: pairs with R1; what the signaller did is visible when sleep() returns.
        if (!word_.compare_exchange_strong(expected, asleep, acq_rel, acquire))
            return naps.start_over();
        while (word_.load(acquire) == asleep) {
            const bool certain = World::Fence::available();
            if (!certain || limit != no_limit)
                return World::wait_for(word_, asleep,
                                       certain ? limit : std::min(limit, naps.next()));
            World::wait(word_, asleep);
        }
        naps.start_over();
    }

    /// Makes signal() ring `bell` until leave_bell(). Returns false if signal() has already come.
    [[nodiscard]] bool enter_bell(Bell& bell) noexcept {
        bell_.store(&bell, relaxed);  // the exchange below publishes it
        std::uint32_t expected = running;
        return word_.compare_exchange_strong(expected, at_bell, acq_rel, acquire);
    }
    void leave_bell() noexcept {
        std::uint32_t expected = at_bell;
        word_.compare_exchange_strong(expected, running, acq_rel, acquire);
    }
    /// Returns when its sleeping owner was last signalled, on the clock of World::now().
    std::chrono::nanoseconds signalled_at() const noexcept {
        return std::chrono::nanoseconds(signalled_at_.load(relaxed));
    }
    bool signalled() const noexcept { return word_.load(acquire) == signal_came; }

    void signal() noexcept {
        // R1: pairs with A1; seeing at_bell, it also reads the bell_ stored before that.
        switch (word_.exchange(signal_came, acq_rel)) {
            case asleep:
                signalled_at_.store(World::now().count(), relaxed);  // a hint
                World::wake_one(word_);
                break;
            case at_bell: bell_.load(relaxed)->ring(); break;
            default: break;
        }
    }

private:
    static constexpr std::uint32_t running = 0;
    static constexpr std::uint32_t asleep = 1;
    static constexpr std::uint32_t at_bell = 2;
    static constexpr std::uint32_t signal_came = 3;

    typename World::template Atom<std::uint32_t> word_{running};
    /// Stored by the owner before at_bell, read after that was seen. A slow signaller perhaps reads
    /// it only when the owner is entering again.
    typename World::template Atom<Bell*> bell_{nullptr};
    typename World::template Atom<std::int64_t> signalled_at_{0};
};

using Doorbell = BasicDoorbell<>;
using Slot = BasicSlot<>;

}  // namespace heddle::sync
