// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Waiting: spins while that is likely to pay, then sleeps until the event comes.
///
/// Spinning       as progress/wait_policy.hpp decides.
/// Sleeping       announce, fence, look once more, sleep (sync/parking.hpp). One sleeper leads. It
///                listens at the process's doorbell and makes progress for all (progress/lot.hpp).
/// Attention      before the leader sleeps, it makes senders ring for every ring. So no message
///                waits for a thread that sleeps. Rings that other threads of the process keep
///                using without waiting are left alone. The leader looks after them every
///                `watch_period` until they are idle. It also wakes to see which rings to other
///                processes are idle (p2p/payload/idle_rings.hpp).
/// Contract       the condition becomes true by progress of this engine, or by another thread. That
///                thread signals the announced slot after making it true
///                (ProgressCall::complete()).

#include <chrono>
#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "core/thread.hpp"
#include "platform/cpu.hpp"
#include "platform/printing.hpp"
#include "progress/board.hpp"
#include "progress/peer.hpp"
#include "progress/wait_policy.hpp"
#include "sync/asymmetric_fence.hpp"
#include "tool/events.hpp"

namespace heddle::progress {

/// A condition that a thread waits for.
template <class C>
concept Condition =
    requires(C condition, sync::Slot* slot, core::Thread& thread, node::WaitsFor& what) {
        { condition.holds() } -> std::same_as<bool>;
        /// Instances in which it can become true, and those to poll first (after holds() was
        /// false).
        { condition.instances() } -> std::convertible_to<std::uint64_t>;
        { condition.likely_instances() } -> std::convertible_to<std::uint64_t>;
        /// Has `slot` signalled when the condition may have become true. nullptr ends that.
        { condition.announce(slot) } -> std::same_as<void>;
        /// Writes the events that the condition waits for, for a report.
        { condition.tell(thread, what) } noexcept -> std::same_as<void>;
    };

/// Returns whether one event happened before the announcement to it could be seen. For conditions
/// that are announced to one event of several; asked after a fence. If true, no thread signals for
/// that event, and the next event needs the announcement.
template <class C>
bool is_stale(const C& condition) noexcept {
    if constexpr (requires { condition.is_stale(); }) return condition.is_stale();
    return false;
}

/// Returns the awaited peer: as the condition knows, or the process that answered this thread last.
template <class Engine, class C>
Peer peer_of(const Engine& engine, const core::Patience& patience, C& condition) noexcept {
    if constexpr (requires { condition.peer(); })
        return condition.peer();
    else if constexpr (requires { condition.answered_by(); })
        return engine.peer(patience.peer, condition.instances());
    else
        return {};
}

inline constexpr std::chrono::milliseconds watch_period{1};

/// Waits by polls alone, as libraries without a better method do. Returns true in the end.
template <class Engine, Condition C>
bool poll_until(Engine& engine, core::Thread& thread, C& condition) {
    for (std::uint32_t polls = 1; !condition.holds(); ++polls) {
        engine.poll_without_sleep(thread);
        if (thread.patience.crowded() || engine.short_of_cores() || polls % WaitPolicy::burst == 0)
            engine.offer_core(thread.patience);
        else
            platform::pause();
    }
    return true;
}

/// Tells other processes that a thread waits, from its first offer of the core until the wait ends.
/// A process that waits for its answer need not poll meanwhile.
template <class Engine, Condition C>
class Waits {
public:
    Waits(Engine& engine, C& condition) noexcept : engine_(engine), condition_(condition) {}
    ~Waits() {
        if (told_ != 0) engine_.tell_waits(told_, false);
    }
    Waits(const Waits&) = delete;
    Waits& operator=(const Waits&) = delete;
    void tell() noexcept {
        if (told_ != 0) return;
        told_ = condition_.instances();
        engine_.tell_waits(told_, true);
    }

private:
    Engine& engine_;
    C& condition_;
    std::uint64_t told_ = 0;
};

template <class C>
void note_peer(core::Patience& patience, const C& condition) noexcept {
    if constexpr (requires { condition.answered_by(); }) patience.peer = condition.answered_by();
}

/// Returns true if the condition became true within the thread's patience.
template <class Engine, Condition C>
bool spin(Engine& engine, core::Thread& thread, C& condition, Waits<Engine, C>& waits) {
    core::Patience& patience = thread.patience;
    if (!patience.may_sleep) [[unlikely]] {
        if (!engine.may_sleep()) return poll_until(engine, thread, condition);
        patience.may_sleep = true;
    }
    WaitPolicy policy(patience, engine.company());
    while (policy.may_poll()) {
        const bool crowded = patience.crowded() || engine.short_of_cores();
        const Peer peer = crowded ? peer_of(engine, patience, condition) : Peer();
        policy.begin_burst(crowded, peer.state(), engine.looks_far());
        for (;;) {
            const bool moved = engine.poll(thread, condition.likely_instances());
            if (condition.holds()) {
                policy.note_event(peer.state());
                return true;
            }
            if (!policy.polls_again(moved, peer.state())) break;
            if (policy.pauses()) platform::pause();
        }
        policy.end_burst(peer.state());
        engine.poll_all(thread);
        if (condition.holds()) return true;
        const WaitPolicy::Next next =
            policy.next(crowded ? std::chrono::nanoseconds{0} : sync::Native::now());
        if (next == WaitPolicy::Next::sleep) return false;
        if (next == WaitPolicy::Next::poll) continue;
        if (crowded) waits.tell();
        if (!engine.offer_core(patience)) return condition.holds();
        policy.note_offer();
    }
    return false;
}

/// A leader at the bell. It leaves the bell in the end, also if progress fails.
template <class Engine>
class AtBell {
public:
    AtBell(Engine& engine, core::Thread& thread) noexcept : engine_(engine), thread_(thread) {}
    ~AtBell() { get_up(); }
    AtBell(const AtBell&) = delete;
    AtBell& operator=(const AtBell&) = delete;
    void get_up() const noexcept {
        engine_.bell().cancel();
        engine_.lot().set_leader_asleep(false);
        thread_.slot.leave_bell();
    }

private:
    Engine& engine_;
    core::Thread& thread_;
};

/// Leads until the condition holds or the slot has been signalled.
template <class Engine, Condition C>
void lead(Engine& engine, core::Thread& thread, C& condition, sync::Naps& naps,
          Waits<Engine, C>& waits, Notice& notice) {
    sync::Doorbell& bell = engine.bell();
    const AtBell at_bell(engine, thread);
    while (!condition.holds()) {
        const std::chrono::nanoseconds start = sync::Native::now();
        notice.look_for_news(engine, start);
        notice.write_if_due(engine, condition, start);
        bell.prepare();
        if (!thread.slot.enter_bell(bell)) break;  // signalled
        engine.lot().set_leader_asleep(true);
        const bool watching = engine.cool_idle();
        const auto announced = engine.announce_backlog(thread);
        engine  // F2: pairs with F1 in Producer::cold() and ProgressCall::complete()
            .fence_before_sleep();
        bool rang = true;
        if (!engine.something_to_do(thread, announced) && !condition.holds()) {
            const std::chrono::nanoseconds limit = engine.tend_idle_rings(thread);
            const std::chrono::nanoseconds asleep = sync::Native::now();
            if (watching)
                bell.sleep_for(watch_period);
            else
                rang = bell.sleep(naps, notice.limit(asleep, limit));
            thread.progress.wakeups.add();
            learn_cost_of_sleep(thread.patience, start, asleep, bell.rung_at(),
                                sync::Native::now());
        }
        at_bell.get_up();
        engine.poll_all(thread);
        if (thread.slot.signalled() || condition.holds()) break;
        if (rang) engine.stir_idle_rings();
        // Messages come in bursts. While the leader is awake, senders need not ring for each.
        if (!watching && rang && spin(engine, thread, condition, waits)) break;
    }
}

/// A thread's place among those that sleep, until its condition holds or progress fails.
template <class Engine, Condition C>
class Place {
public:
    Place(Engine& engine, core::Thread& thread, C& condition)
        : engine_(engine),
          thread_(thread),
          condition_(condition),
          instances_(condition.instances()) {
        engine_.add_parked(instances_, +1);
        thread_.progress.sleeps.add();
        tool::raise(tool::Event::thread_sleeps, {thread_.system_id});
        engine_.lot().enter(thread_);
        engine_.cool(instances_);
        engine_.stir_idle_rings();
    }
    ~Place() {
        condition_.announce(nullptr);
        engine_.add_parked(instances_, -1);
        engine_.lot().leave(thread_, leads_);
        tool::raise(tool::Event::thread_goes_on, {thread_.system_id});
    }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    bool leads() noexcept { return leads_ = leads_ || engine_.lot().try_lead(); }

private:
    Engine& engine_;
    core::Thread& thread_;
    C& condition_;
    const std::uint64_t instances_;
    bool leads_ = false;
};

/// Sleeps until the condition holds.
template <class Engine, Condition C>
void park(Engine& engine, core::Thread& thread, C& condition, Waits<Engine, C>& waits) {
    Notice notice(thread);
    Place place(engine, thread, condition);
    sync::Naps naps;
    for (;;) {
        const std::chrono::nanoseconds start = sync::Native::now();
        thread.slot.prepare();
        condition.announce(&thread.slot);
        // The leader may have gone to sleep before there was a backlog.
        engine.announce_backlog(thread);
        engine.fence_before_sleep();  // F2, as in lead()
        // Polls all instances: room may have come just before it was asked for.
        engine.poll_all(thread);
        if (condition.holds()) return;
        if (is_stale(condition)) continue;
        if (place.leads()) {
            lead(engine, thread, condition, naps, waits, notice);
            continue;
        }
        const std::chrono::nanoseconds asleep = sync::Native::now();
        notice.write_if_due(engine, condition, asleep);
        thread.slot.sleep(naps, notice.limit(asleep));
        thread.progress.wakeups.add();
        learn_cost_of_sleep(thread.patience, start, asleep, thread.slot.signalled_at(),
                            sync::Native::now());
    }
}

/// Returns when the condition holds.
template <class Engine, Condition C>
void wait(Engine& engine, core::Thread& thread, C&& condition) {
    if (condition.holds()) return;
    Waits<Engine, std::remove_reference_t<C>> waits(engine, condition);
    if (spin(engine, thread, condition, waits)) return note_peer(thread.patience, condition);
    waits.tell();
    platform::flush_output();
    park(engine, thread, condition, waits);
    note_peer(thread.patience, condition);
}

}  // namespace heddle::progress
