// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A lock that costs its usual thread no locked instruction.
///
/// The lock is biased to the thread that has lately been its only user. That thread enters by a
/// store to a word of its own and a look at owner_. Another thread first takes the bias away, which
/// costs it a system call. From then on every thread takes the mutex until one thread has again
/// been alone for a while.
///
/// Thread safety  lock(me) and unlock(me, way) from any thread; `me` is the calling thread's own
///                token, which outlives the lock's use of it (tokens are never unmapped). A thread
///                is inside at most one biased section at a time, so biased locks do not nest.
/// Invariants     (1) a thread is in the section if it holds mutex_ and owner_ is null. It is
///                    also there if its token says `inside == this` and owner_ was the token after
///                    it said so.
///                (2) owner_ is written only by the holder of mutex_.
/// Waiting        the revoking thread waits for the owner to leave its section, which is short and
///                takes no other lock (sync/short_wait.hpp).

#include <cstdint>

#include "sync/mutex.hpp"
#include "sync/short_wait.hpp"
#include "tool/counter.hpp"

namespace heddle::sync {

template <class World = Native>
class BasicBiasedLock {
public:
    /// State of one thread.
    struct Token {
        typename World::template Atom<const void*> inside{nullptr};
        /// Counter of the thread: times that a lock was not free at once.
        tool::Counter* contended = nullptr;
    };
    enum class Way : std::uint8_t { biased, mutex, waited };

    [[nodiscard]] Way lock(Token& me) noexcept {
        if (owner_.load(relaxed) == &me) [[likely]] {
            me.inside.store(this, relaxed);  // ordered by F1
            World::Fence::light();           // F1: pairs with F2
            // Relaxed: this thread wrote what the section reads, or a holder of mutex_ did. That
            // was before this thread held mutex_ and became the owner.
            if (owner_.load(relaxed) == &me) [[likely]]
                return Way::biased;
            me.inside.store(nullptr, relaxed);  // nothing was touched
        }
        // A lock that has no bias is taken right here.
        if (owner_.load(relaxed) != nullptr || !mutex_.try_lock()) [[unlikely]] {
            lock_slowly(me);
            return Way::waited;
        }
        if (owner_.load(relaxed) != nullptr) [[unlikely]]
            revoke();
        return Way::mutex;
    }

    void unlock(Token& me, Way way) noexcept {
        unlock(me, way, [] {});
    }
    /// Does the same. Calls after_waiting(), before it lets go, if the lock was not free at once.
    template <class AfterWaiting>
    void unlock(Token& me, Way way, AfterWaiting&& after_waiting) noexcept {
        if (way == Way::biased) [[likely]] {
            me.inside.store(nullptr, release);  // R1: pairs with A1 in revoke()
            return;
        }
        if (way == Way::waited) [[unlikely]]
            after_waiting();
        if (last_ != &me) [[unlikely]]
            see_another(me);
        else if (++streak_ == patience_) [[unlikely]]
            give_bias(me);
        mutex_.unlock();
    }

    /// Returns whether the lock costs this thread no locked instruction, and no other thread its
    /// bias: a hint.
    bool is_biased_to(const Token& me) const noexcept { return owner_.load(relaxed) == &me; }

private:
    [[gnu::noinline]] void lock_slowly(Token& me) noexcept {
        if (me.contended != nullptr) me.contended->add();
        mutex_.lock();
        if (owner_.load(relaxed) != nullptr) revoke();
    }

    // The rest is called with mutex_ held.

    [[gnu::noinline]] void revoke() noexcept {
        Token& owner = *owner_.load(relaxed);
        owner_.store(nullptr, relaxed);  // ordered by F2
        World::Fence::heavy();           // F2: pairs with F1
        // A1: pairs with R1.
        wait_shortly_until<World>([&] { return owner.inside.load(acquire) != this; });
        if (patience_ < most_patience) patience_ *= 2;
        streak_ = 0;
    }
    [[gnu::noinline]] void see_another(Token& me) noexcept {
        last_ = &me;
        streak_ = 0;
    }
    /// Biases the lock to `me`, which has been alone long enough.
    [[gnu::noinline]] void give_bias(Token& me) noexcept {
        streak_ = 0;
        // Other threads read it with mutex_ held; `me` reads its own store.
        if (World::Fence::available()) owner_.store(&me, relaxed);
    }

    static constexpr unsigned first_patience = 8;
    static constexpr unsigned most_patience = 8192;

    typename World::template Atom<Token*> owner_{nullptr};
    BasicMutex<World> mutex_;
    Token* last_ = nullptr;  // the four below belong to the holder of mutex_
    unsigned streak_ = 0;
    unsigned patience_ = first_patience;
};

/// Holds the lock for as long as it lives.
template <class World = Native>
class BasicBiasedHold {
public:
    using Lock = BasicBiasedLock<World>;

    BasicBiasedHold(Lock& lock, typename Lock::Token& me) noexcept
        : lock_(lock), me_(me), way_(lock.lock(me)) {}
    ~BasicBiasedHold() { lock_.unlock(me_, way_); }
    BasicBiasedHold(const BasicBiasedHold&) = delete;
    BasicBiasedHold& operator=(const BasicBiasedHold&) = delete;

private:
    Lock& lock_;
    typename Lock::Token& me_;
    const typename Lock::Way way_;
};

using BiasedLock = BasicBiasedLock<>;
using BiasedHold = BasicBiasedHold<>;

}  // namespace heddle::sync
