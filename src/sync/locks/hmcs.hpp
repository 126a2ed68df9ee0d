// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// "hmcs": the hierarchical MCS lock of Chabbi, Fagan and Mellor-Crummey. Threads that are near
/// each other queue with their group. The first of a group queues for it one level up. The lock
/// stays within a group as long as a thread waits there. But it does so only a number of times (the
/// passing threshold of its level).
///
/// Hierarchy      data (platform/hierarchy.hpp); by default that of the machine. The outermost
///                level, all processors, is an MCS lock, the root. If the hierarchy has no levels
///                there is only this.
/// Position       World::processor() when the thread comes. If the thread moves meanwhile, only
///                nearness is lost.
/// Invariants     (1) the lock is held by a thread whose groups are all represented up to the root.
///                    At each level its member, or its group's, is the first of the queue.
///                (2) Group::member belongs to the first member of the group's queue. A member that
///                    becomes the first gets it with the store that says so (R3).
/// Time limit     a thread in lock_for() does not join its group but queues at the root, where it
///                can leave (mcs.hpp). It waits behind one representative of each group then.
///                try_lock() goes there, too: the root is free exactly while the lock is.

#include <cassert>
#include <memory>
#include <vector>

#include "sync/locks/mcs.hpp"

namespace heddle::sync::locks {

template <class World = Native>
class Hmcs {
    using Root = Mcs<World>;

    /// A thread, or a group, that queues with a group.
    struct alignas(cache_line) Member {
        typename World::template Atom<Member*> next{nullptr};
        /// `wait`, `go_up`, or how often its group has had the lock since it got it from above.
        typename World::template Atom<std::uint32_t> status{0};
    };
    struct alignas(cache_line) Group {
        typename World::template Atom<Member*> tail{nullptr};
        Group* parent = nullptr;  ///< nullptr: the root
        std::uint32_t threshold = 0;
        Member member;             ///< member as which this group queues with its parent
        typename Root::Node root;  ///< node, if it queues at the root
    };

public:
    struct Node {
        Group* group = nullptr;  ///< nullptr: the thread queues at the root itself
        Member member;
        typename Root::Node root;
    };
    static constexpr std::string_view name = "hmcs";
    static constexpr bool fifo = false;
    static constexpr std::uint32_t usual_threshold = 256;  ///< P2, section 5.1

    Hmcs() : Hmcs(World::hierarchy()) {}
    /// `thresholds`: how often the groups of each level pass the lock on among themselves, at least
    /// 1. A level without a threshold has the usual one.
    explicit Hmcs(const platform::Hierarchy& hierarchy,
                  const std::vector<std::uint32_t>& thresholds = {});
    Hmcs(const Hmcs&) = delete;
    Hmcs& operator=(const Hmcs&) = delete;

    void lock(Node& me) noexcept {
        me.group = group_here();
        if (me.group == nullptr)
            root_.lock(me.root);
        else
            enter(*me.group, me.member);
    }
    bool try_lock(Node& me) noexcept {
        me.group = nullptr;
        return root_.try_lock(me.root);
    }
    bool lock_for(Node& me, std::chrono::nanoseconds limit) noexcept {
        me.group = nullptr;
        return root_.lock_for(me.root, limit);
    }
    void unlock(Node& me) noexcept {
        if (me.group == nullptr)
            root_.unlock(me.root);
        else
            leave(*me.group, me.member);
    }
    /// Returns false for a member that waits with a group, since it will have the lock, sooner or
    /// later.
    bool nowaiters(const Node& me) const noexcept {
        const Member* member = &me.member;
        const typename Root::Node* root = &me.root;
        for (const Group* group = me.group; group != nullptr; group = group->parent) {
            if (member->next.load(relaxed) != nullptr)
                return false;  // only looked at, not followed
            member = &group->member;
            root = &group->root;
        }
        return root_.nowaiters(*root);
    }

private:
    // Values of status. From 1 up to the threshold: how many of the group have had the lock, this
    // one included.
    static constexpr std::uint32_t first_of_group = 1;
    static constexpr std::uint32_t go_up =
        ~0U - 1;  ///< the group has to get the lock from above again
    static constexpr std::uint32_t wait = ~0U;

    Group* group_here() const noexcept {
        const unsigned processor = World::processor();
        return processor < innermost_.size() ? innermost_[processor] : fallback_;
    }

    /// Queues with the group. The first member gets the lock from above.
    void enter(Group& group, Member& me) noexcept {
        me.next.store(nullptr, relaxed);  // both are private until R1 and R2 publish them
        me.status.store(wait, relaxed);
        // R1 publishes the stores above; A1 pairs with R4, and so hands over Group::member.
        Member* const ahead = group.tail.exchange(&me, acq_rel);
        if (ahead != nullptr) {
            ahead->next.store(&me, release);  // R2: pairs with A2
            std::uint32_t status = wait;
            for (Waiting<World> waiting;
                 (status = me.status.load(acquire)) == wait;)  // A3: pairs with R3
                waiting.pause();
            if (status != go_up) return;  // passed on within the group
        }
        me.status.store(first_of_group, relaxed);  // read by this thread, in leave()
        if (group.parent == nullptr)
            root_.lock(group.root);
        else
            enter(*group.parent, group.member);
    }

    void leave(Group& group, Member& me) noexcept {
        const std::uint32_t passed =
            me.status.load(relaxed);  // written by this thread, or seen by its A3
        if (passed < group.threshold) {
            if (Member* const next = me.next.load(acquire)) {  // A2: pairs with R2
                next->status.store(passed + 1, release);       // R3: pairs with A3
                return;
            }
        }
        if (group.parent == nullptr)
            root_.unlock(group.root);
        else
            leave(*group.parent, group.member);
        hand_on_group(group, me);
    }

    /// Lets the next of the group represent it, after the lock has gone.
    void hand_on_group(Group& group, Member& me) noexcept {
        Member* next = me.next.load(acquire);  // A2
        if (next == nullptr) {
            Member* last = &me;
            if (group.tail.compare_exchange_strong(last, nullptr, release))
                return;  // R4: pairs with A1
            for (Waiting<World> waiting; (next = me.next.load(acquire)) == nullptr;)
                waiting.pause();  // A2
        }
        next->status.store(go_up, release);  // R3
    }

    Root root_;
    std::unique_ptr<Group[]> groups_;
    std::vector<Group*> innermost_;  ///< innermost group of each processor
    Group* fallback_ = nullptr;      ///< group of processors that the hierarchy does not know
};

template <class World>
Hmcs<World>::Hmcs(const platform::Hierarchy& hierarchy,
                  const std::vector<std::uint32_t>& thresholds) {
    std::vector<std::size_t> first;  // group of each level
    std::size_t count = 0;
    for (const std::vector<unsigned>& level : hierarchy.levels) {
        first.push_back(count);
        for (const unsigned group : level) count = std::max(count, first.back() + group + 1);
    }
    if (count == 0) return;
    groups_ = std::make_unique<Group[]>(count);
    for (std::size_t l = 0; l < first.size(); ++l) {
        const std::vector<unsigned>& level = hierarchy.levels[l];
        const std::uint32_t threshold = l < thresholds.size() ? thresholds[l] : usual_threshold;
        assert(threshold >= 1 && threshold < go_up && level.size() == hierarchy.levels[0].size());
        for (std::size_t p = 0; p < level.size(); ++p) {
            Group& group = groups_[first[l] + level[p]];
            group.threshold = threshold;
            if (l + 1 < first.size())
                group.parent = &groups_[first[l + 1] + hierarchy.levels[l + 1][p]];
        }
    }
    for (const unsigned group : hierarchy.levels[0]) innermost_.push_back(&groups_[group]);
    fallback_ = &groups_[0];
}

}  // namespace heddle::sync::locks
