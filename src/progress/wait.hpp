// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Waiting: spins while that is likely to pay, then sleeps until the event comes.
///
/// Spinning       in bursts of polls, the first without pauses. Between bursts the thread offers
///                its core to others. On a core that no other thread wants it spins for a limited
///                time. The limit is the recent cost of a sleep and a wake-up (within bounds). So
///                no wait takes more than twice its time, and short ones take no sleep (Karlin et
///                al., 1991). Messages that come meanwhile show that something is in progress, and
///                begin the time anew.
/// Crowded core   if there are more threads than cores, or if another thread took the offer. There,
///                one offer follows each poll: a thread that spins keeps the core from threads with
///                work. Bursts stay if the peer is known to run on another core. They also stay if
///                the peer is not known and answers tend to come within a burst (core::Company).
///                Parting two threads that answer each other costs two changes of threads per
///                answer.
/// Patience       each thread learns how many polls a wait may take on a crowded core before it
///                sleeps. Waits that ended in a long sleep shorten it; waits that ended in time
///                lengthen it.
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

#include <algorithm>
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

inline constexpr std::uint32_t burst = 64;                ///< polls between two offers of the core
inline constexpr std::uint32_t polls_after_progress = 3;  ///< on a crowded core, too
/// Answers within bursts before a single poll, on a crowded core.
inline constexpr std::uint32_t call = 2048;
inline constexpr std::uint8_t most_vain_bursts = 4;
inline constexpr std::uint32_t most_polls = 256;  ///< before sleeping, on a crowded core
inline constexpr std::uint32_t fewest_polls = 16;
inline constexpr std::uint32_t most_offers = 48;  ///< likewise
inline constexpr std::uint32_t bursts_alone =
    4;  ///< between two offers of a core that no other thread wants
/// Bounds of the learned cost. Programs are out of step by a tenth of a millisecond all the time.
inline constexpr std::chrono::nanoseconds least_cost_of_sleep{120'000}, most_cost_of_sleep{200'000};
inline constexpr std::chrono::milliseconds watch_period{1};
inline constexpr std::chrono::microseconds long_sleep{50};

inline void note_answer(core::Company& company, core::Patience& patience, const Peer& peer,
                        bool brief) noexcept {
    if (peer.is_known()) {
        ++patience.answers;
        if (!brief && patience.vain_bursts != 0) --patience.vain_bursts;
        return;
    }
    if (brief && !company.expected()) return company.came();
    if (++patience.answers == core::Company::many) company.trust();
}

/// Waits by polls alone, as libraries without a better method do. Returns true in the end.
template <class Engine, Condition C>
bool poll_until(Engine& engine, core::Thread& thread, C& condition) {
    for (std::uint32_t polls = 1; !condition.holds(); ++polls) {
        engine.poll_without_sleep(thread);
        if (thread.patience.crowded || engine.short_of_cores() || polls % burst == 0)
            engine.offer_core(thread.patience);
        else
            platform::pause();
    }
    return true;
}

/// The time that a wait on an uncrowded core may spin.
class SpinTime {
public:
    explicit SpinTime(std::chrono::nanoseconds cost_of_sleep) noexcept : limit_(cost_of_sleep) {}
    /// Called after a burst. `moved`: messages came in it.
    bool is_over(bool moved) noexcept {
        const std::chrono::nanoseconds now = sync::Native::now();
        if (moved || end_.count() == 0) end_ = now + limit_;
        return now >= end_;
    }

private:
    const std::chrono::nanoseconds limit_;
    std::chrono::nanoseconds end_{0};
};

/// Learns the cost of a sleep. Its preparation began at `start`, the sleep at `asleep`; the ring
/// that ended it was at `rung`.
inline void learn_cost_of_sleep(core::Patience& patience, std::chrono::nanoseconds start,
                                std::chrono::nanoseconds asleep,
                                std::chrono::nanoseconds rung) noexcept {
    if (rung < asleep) return;  // no thread woke it
    const std::chrono::nanoseconds cost = (asleep - start) + (sync::Native::now() - rung);
    patience.cost_of_sleep = std::clamp((3 * patience.cost_of_sleep + cost) / 4,
                                        least_cost_of_sleep, most_cost_of_sleep);
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

/// Returns whether a thread on a crowded core polls once, not in a burst, before it offers the
/// core.
template <class Engine>
bool is_brief(Engine& engine, core::Patience& patience, const Peer& peer) noexcept {
    // After many answers the other threads on this core have their turn.
    if (patience.answers % call == call - 1) return true;
    if (!peer.is_known()) return !engine.company().expected();
    if (peer.waits()) return true;
    if (patience.bursts_to_skip == 0) return false;
    --patience.bursts_to_skip;
    return true;
}

/// Notes that a burst was in vain. A peer that neither waits nor runs is ready, and has no core.
inline void note_silence(core::Company& company, core::Patience& patience,
                         const Peer& peer) noexcept {
    if (!peer.is_known()) return company.stayed_away(std::exchange(patience.answers, 0));
    if (peer.waits()) return;
    if (patience.vain_bursts < most_vain_bursts) ++patience.vain_bursts;
    patience.bursts_to_skip = static_cast<std::uint8_t>((1U << patience.vain_bursts) - 1);
}

template <class C>
void note_peer(core::Patience& patience, const C& condition) noexcept {
    if constexpr (requires { condition.answered_by(); }) patience.peer = condition.answered_by();
}

/// Returns true if the condition became true within the thread's patience.
template <class Engine, Condition C>
bool spin(Engine& engine, core::Thread& thread, C& condition, Waits<Engine, C>& waits) {
    core::Patience& patience = thread.patience;
    if (patience.polls == 0) [[unlikely]] {
        if (!engine.may_sleep()) return poll_until(engine, thread, condition);
        patience.polls = most_polls;
    }
    SpinTime time(patience.cost_of_sleep);
    std::uint32_t offers = 0, bursts = 0;
    for (std::uint32_t polls = 0; polls < patience.polls && offers < most_offers;) {
        const bool crowded = patience.crowded || engine.short_of_cores();
        const Peer peer = crowded ? peer_of(engine, patience, condition) : Peer();
        const bool brief = crowded && is_brief(engine, patience, peer);
        std::uint32_t more = burst;  // but other instances must have their turn
        bool anything = false;
        for (std::uint32_t left = brief ? 1 : burst; left > 0; --left) {
            const bool moved = engine.poll(thread, condition.likely_instances());
            if (condition.holds()) {
                patience.polls = std::min(most_polls, patience.polls + 8);
                if (crowded) note_answer(engine.company(), patience, peer, brief);
                return true;
            }
            if (!brief && peer.waits()) break;
            anything = anything || moved;
            // Messages keep coming. Changing threads now would cost more than waiting for the next
            // one.
            if (moved && left <= polls_after_progress && more > 0) {
                left = polls_after_progress + 1;
                --more;
            }
            // Events of the first microsecond are seen at once.
            if (bursts != 0 || offers != 0) platform::pause();
        }
        if (crowded && !brief) note_silence(engine.company(), patience, peer);
        engine.poll_all(thread);
        if (condition.holds()) return true;
        if (!crowded && time.is_over(anything)) return false;
        if (!crowded && ++bursts % bursts_alone != 0) continue;
        if (crowded) waits.tell();
        if (!engine.offer_core(patience)) return condition.holds();
        if (!crowded) continue;
        ++offers;
        // A poll costs little there, so offers count as polls.
        polls += patience.polls / most_offers + 1;
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
            learn_cost_of_sleep(thread.patience, start, asleep, bell.rung_at());
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
        learn_cost_of_sleep(thread.patience, start, asleep, thread.slot.signalled_at());
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
    const auto before = std::chrono::steady_clock::now();
    park(engine, thread, condition, waits);
    note_peer(thread.patience, condition);
    std::uint32_t& polls = thread.patience.polls;
    if (std::chrono::steady_clock::now() - before > long_sleep)
        polls = std::max(fewest_polls, polls / 2);
    else
        polls = std::min(most_polls, polls * 2);
}

}  // namespace heddle::progress
