// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Gives each of several things to one of the threads that claim it. The thread that made a thing
/// claims it without a locked instruction. That holds as long as no thread has claimed a thing that
/// another one made.
///
/// A thing is `marked` with the token of the thread that makes it. That thread claims it by a look
/// at the mark. The first thread that claims another thread's thing takes the marks out of use,
/// which costs it a system call. From then on every thread claims by compare-and-swap.
///
/// Thread safety  enter(), leave(), claim() and mark() by each thread for its own token, which is
///                never unmapped. A thing is made, marked, by one thread at a time.
/// Invariants     (1) between mark() and the next one, claim() returns true to at most one thread.
///                    It does to one if any claims.
///                (2) while marks are in use, only the thread whose mark a thing bears claims it.
/// Waiting        the thread that ends the use of marks waits for claims that have begun. Each is a
///                few instructions (sync/short_wait.hpp).

#include <cstdint>
#include <mutex>
#include <vector>

#include "sync/mutex.hpp"
#include "sync/short_wait.hpp"

namespace heddle::sync {

template <class World = Native>
class BasicClaims {
public:
    /// State of one thread.
    class Token {
    private:
        friend BasicClaims;
        typename World::template Atom<const Token*> mark{
            nullptr};  ///< of things that it may claim by a look
        typename World::template Atom<std::uint32_t> inside{0};
    };
    /// A thing that is claimed.
    class Claimable {
    private:
        friend BasicClaims;
        typename World::template Atom<const Token*> mark{nullptr};  ///< nullptr: has been claimed
    };

    /// Marks the thing as made by the thread `me`.
    static void mark(const Token& me, Claimable& thing) noexcept {
        // Relaxed: the claiming thread got the thing from its maker, by means of the program.
        thing.mark.store(&me, relaxed);
    }

    void enter(Token& me) {
        std::lock_guard guard(lock_);
        tokens_.push_back(&me);
        me.mark.store(marks_in_use_ && World::Fence::available() ? &me : nullptr, relaxed);
    }
    void leave(Token& me) noexcept {
        std::lock_guard guard(lock_);
        std::erase(tokens_, &me);
    }

    [[nodiscard, gnu::always_inline]] bool claim(Token& me, Claimable& thing) noexcept {
        me.inside.store(1, relaxed);  // ordered by F1
        World::Fence::light();        // F1: pairs with F2
        const Token* mark = thing.mark.load(relaxed);
        if (mark == nullptr || mark != me.mark.load(relaxed)) [[unlikely]]
            return claim_slowly(me, thing);
        thing.mark.store(nullptr, relaxed);
        me.inside.store(0, release);  // R1: pairs with A1
        return true;
    }

private:
    [[gnu::noinline]] bool claim_slowly(Token& me, Claimable& thing) noexcept {
        me.inside.store(0, release);
        end_marks();
        const Token* mark = thing.mark.load(relaxed);
        // Acquire for what an earlier claim did; release for the next.
        return mark != nullptr &&
            thing.mark.compare_exchange_strong(mark, nullptr, acq_rel, relaxed);
    }
    void end_marks() noexcept {
        std::lock_guard guard(lock_);
        if (!marks_in_use_) return;
        marks_in_use_ = false;
        for (Token* token : tokens_) token->mark.store(nullptr, relaxed);  // ordered by F2
        World::Fence::heavy();                                             // F2: pairs with F1
        for (Token* token : tokens_)                                       // A1: pairs with R1
            wait_shortly_until<World>([token] { return token->inside.load(acquire) == 0; });
    }

    BasicMutex<World> lock_;
    std::vector<Token*> tokens_;  ///< of threads that have entered; lock_
    bool marks_in_use_ = true;    ///< lock_
};

using Claims = BasicClaims<>;

}  // namespace heddle::sync
