// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// "mcs": the queue lock of Mellor-Crummey and Scott. Threads queue in the order they come. Each
/// waits on a line of its own, and the holder hands the lock to its successor.
///
/// Invariants     (1) tail_ is the last node of the queue, nullptr if the lock is free; the
///                    holder's node is the first. tail_ never names a node that is not in the
///                    queue.
///                (2) `next` of a node is 0 until its successor has linked itself. It is 0 again
///                    while a successor with a time limit is leaving. It is 0 for ever only in the
///                    last node.
///
/// Time limit     a thread in lock_for() queues like any other. When its time is over it takes its
///                node out of the middle of the queue. The difficulty is that nodes lie on stacks.
///                No neighbour may touch the node afterwards, nor may its thread touch theirs once
///                they have gone. Two words settle that:
///                - the link, `ahead.next`, is marked as one to a node that may leave. The node
///                  that changes the marked link by compare-exchange owns it. That is the node
///                  itself (it sets 0: it is leaving), or the node ahead. The latter sets `taken`:
///                  it hands the lock over, or leaves itself.
///                - the node's `ahead`, which has a bit that locks it. The node keeps it locked
///                  while it touches the node ahead. The node ahead locks it before it lets go of
///                  this one, and waits until it can.
/// Leaving        goes from the front to the back. First the node takes itself off the node ahead.
///                From then on that waits as for a successor that is about to link itself. Then the
///                node ties the node behind, or tail_, to the node ahead. Waiting therefore always
///                points towards the tail, and ends there. Each wait is for a few steps of another
///                thread in this code. That thread never waits for the lock.
/// Cost           threads in lock() take no part in this. They pay for none of it, except that
///                unlock() looks at the mark.

#include <cstdint>

#include "sync/locks/lock.hpp"
#include "sync/locks/waiting.hpp"
#include "sync/native.hpp"

namespace heddle::sync::locks {

template <class World = Native>
class Mcs {
    using Word = std::uintptr_t;

public:
    struct alignas(cache_line) Node {
        typename World::template Atom<Word> next{nobody};
        typename World::template Atom<Word> ahead{nobody};  ///< used by a node in lock_for() only
        typename World::template Atom<std::uint32_t> waiting{0};
    };
    static constexpr std::string_view name = "mcs";
    static constexpr bool fifo = true;

    Mcs() = default;
    Mcs(const Mcs&) = delete;
    Mcs& operator=(const Mcs&) = delete;

    void lock(Node& me) noexcept {
        me.next.store(nobody, relaxed);  // both are private until R1 and R2 publish them
        me.waiting.store(1, relaxed);
        // R1 publishes the stores above; A1 pairs with R4, a release that found no successor, and
        // with R1 and R6.
        Node* const ahead = tail_.exchange(&me, acq_rel);
        if (ahead == nullptr) return;
        ahead->next.store(word(me), release);  // R2: pairs with A2
        for (Waiting<World> waiting; me.waiting.load(acquire) != 0;)
            waiting.pause();  // A3: pairs with R3
    }

    bool try_lock(Node& me) noexcept {
        if (tail_.load(relaxed) != nullptr) return false;  // only to fail without taking the line
        me.next.store(nobody, relaxed);
        Node* free = nullptr;
        return tail_.compare_exchange_strong(free, &me, acq_rel);  // R1, A1
    }

    bool lock_for(Node& me, std::chrono::nanoseconds limit) noexcept {
        if (try_lock(me)) return true;
        if (limit.count() <= 0) return false;
        const Deadline<World> deadline(limit);
        me.next.store(nobody, relaxed);
        me.waiting.store(1, relaxed);
        Node* const ahead = tail_.exchange(&me, acq_rel);  // R1, A1
        if (ahead == nullptr) return true;
        me.ahead.store(word(*ahead), relaxed);             // R2 publishes it
        ahead->next.store(word(me) | may_leave, release);  // R2: pairs with A2
        for (Waiting<World> waiting; me.waiting.load(acquire) != 0; waiting.pause())  // A3
            if (deadline.passed() && leave(me)) return false;
        return true;
    }

    void unlock(Node& me) noexcept {
        const Word next = me.next.load(acquire);  // A2: pairs with R2
        if (next != nobody && (next & may_leave) == 0) [[likely]]
            node(next).waiting.store(0, release);  // R3: pairs with A3; it may be gone after this
        else
            unlock_slowly(me);
    }

    /// Relaxed: a link without the mark stays until it is used.
    bool nowaiters(const Node& me) const noexcept {
        const Word next = me.next.load(relaxed);
        return next == nobody || (next & may_leave) != 0;
    }

private:
    static constexpr Word nobody = 0;
    static constexpr Word may_leave = 1;      ///< the mark, in `next`
    static constexpr Word taken = may_leave;  ///< a marked link without a node
    static constexpr Word locked = 1;         ///< lock bit, in `ahead`

    static Word word(Node& node) noexcept { return reinterpret_cast<Word>(&node); }
    static Node& node(Word word) noexcept { return *reinterpret_cast<Node*>(word & ~Word{1}); }

    /// Unlocks if no successor has linked itself yet, or only one that may leave.
    [[gnu::noinline]] void unlock_slowly(Node& me) noexcept {
        for (Waiting<World> waiting;; waiting.pause()) {
            const Word next = me.next.load(acquire);  // A2, A6
            if (next == nobody) {
                if (make_last(me, nullptr)) return;  // R4: pairs with A1
            } else if ((next & may_leave) == 0 || take(me, next)) {
                node(next).waiting.store(0, release);  // R3; a lock of its `ahead` stays
                return;
            }
        }
    }

    /// Takes a node out whose time is over. Returns false if that cannot be now: the lock is being
    /// handed to it, or the node ahead is leaving.
    [[gnu::noinline]] bool leave(Node& me) noexcept {
        Word before = me.ahead.load(relaxed);  // the next line orders it
        // A5: pairs with R5. From here to the unlocking below the node ahead does not go away.
        if ((before & locked) != 0 ||
            !me.ahead.compare_exchange_strong(before, before | locked, acquire))
            return false;
        Node& ahead = node(before);
        Word link = word(me) | may_leave;
        // R6: pairs with A2 and A6, so that the node ahead goes away after this has touched it.
        if (!ahead.next.compare_exchange_strong(link, nobody, acq_rel)) {
            me.ahead.store(before, release);  // R5: pairs with A5 in take()
            return false;
        }
        // No link leads to this node from the front any more; the node ahead waits for a successor.
        for (Waiting<World> waiting;; waiting.pause()) {
            const Word next = me.next.load(acquire);  // A2, A6
            if (next == nobody) {
                if (make_last(me, &ahead)) return true;
            } else if ((next & may_leave) == 0) {
                ahead.next.store(next, release);  // R2, on behalf of the node behind
                return true;
            } else if (take(me, next)) {
                ahead.next.store(next, release);  // R2; the node ahead may be gone now
                node(next).ahead.store(before & ~locked, release);  // R5: pairs with A5
                return true;
            }
        }
    }

    /// Ends the queue before `me` if it is the last. R4, R6: earlier accesses to nodes are over.
    bool make_last(Node& me, Node* ahead) noexcept {
        Node* last = &me;
        return tail_.compare_exchange_strong(last, ahead, acq_rel);
    }

    /// Takes the marked link to the node behind, which then neither leaves nor touches `me`.
    /// Returns false if that node is leaving.
    bool take(Node& me, Word next) noexcept {
        if (!me.next.compare_exchange_strong(next, taken, acquire))
            return false;  // A6: pairs with R6
        Node& behind = node(next);
        for (Waiting<World> waiting;; waiting.pause()) {
            Word here = word(me);
            // A5: pairs with R5. The node behind stored it when it failed to leave, or a node that
            // has just left did.
            if (behind.ahead.compare_exchange_strong(here, here | locked, acquire)) return true;
        }
    }

    alignas(cache_line) typename World::template Atom<Node*> tail_{nullptr};
};

}  // namespace heddle::sync::locks
