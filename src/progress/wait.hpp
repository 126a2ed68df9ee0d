// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Waiting: spin while that is likely to pay, then sleep until the event comes.
///
/// Spinning       in bursts of polls; between bursts the core is offered to others. Where there are
///                more threads than cores, or when somebody took the offer, each poll is followed by
///                one: a thread that spins keeps the core from those who have something to do. Unless
///                answers tend to come within a burst there, too (core::Company).
///                How many polls a wait may take before it sleeps is learned by each thread: waits
///                that ended in a long sleep shorten it, waits that ended in time lengthen it.
/// Sleeping       announce, fence, look once more, sleep (sync/parking.hpp). One sleeper leads: it
///                listens at the process's doorbell and makes progress for all (progress/lot.hpp).
/// Attention      before the leader sleeps, senders are made to ring for every ring, so that no
///                message waits for a thread that is not there. Rings that other threads of the
///                process keep using without waiting are left alone as long as they do: the leader
///                looks after them every `watch_period` until they are idle.
/// Contract       the condition becomes true by progress of this engine or by a thread that signals
///                the slot that was announced, after making it true (Turn::complete()).

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <utility>

#include "core/thread.hpp"
#include "platform/cpu.hpp"
#include "progress/board.hpp"
#include "sync/asymmetric_fence.hpp"
#include "tool/events.hpp"

namespace heddle::progress {

/// What a thread waits for.
template <class C>
concept Condition = requires(C condition, sync::Slot* slot, char* text, std::size_t bytes) {
    { condition.holds() } -> std::same_as<bool>;
    /// Instances in which it can become true, and those to poll first (after holds() was false).
    { condition.instances() } -> std::convertible_to<std::uint64_t>;
    { condition.likely_instances() } -> std::convertible_to<std::uint64_t>;
    /// Has `slot` signalled when it may have become true; nullptr: no more.
    { condition.announce(slot) } -> std::same_as<void>;
    /// For a report: "(source 1, tag 7, MPI_COMM_WORLD)".
    { condition.describe(text, bytes) } -> std::same_as<void>;
};

inline constexpr std::uint32_t burst = 64;          ///< polls between two offers of the core
inline constexpr std::uint32_t polls_after_progress = 3;  ///< on a crowded core, too
inline constexpr std::uint32_t long_offer = 600'000;      ///< ticks, some tenths of a millisecond
inline constexpr std::uint32_t turn = 2048;         ///< answers within bursts, on a crowded core
inline constexpr std::uint32_t most_polls = 256;    ///< before sleeping, on an idle core
inline constexpr std::uint32_t fewest_polls = 16;
inline constexpr std::uint32_t most_offers = 48;    ///< before sleeping, on a crowded core
inline constexpr std::chrono::milliseconds watch_period{1};
inline constexpr std::chrono::microseconds long_sleep{50};

/// Offers the core; notes whether somebody took it. False if they kept it for long: they compute, and a
/// thread that sleeps gets the core back sooner than one that offers it.
inline bool offer_core(core::Patience& patience) noexcept {
    const std::uint64_t before = platform::ticks();
    sync::Native::yield();
    const auto took = static_cast<std::uint32_t>(platform::ticks() - before);
    if (patience.quick_offer == 0 || took < patience.quick_offer) patience.quick_offer = took;
    // An offer that nobody takes costs one system call, twice that is still one.
    patience.crowded = took > 2 * patience.quick_offer;
    return took < long_offer;
}

inline void note_answer(core::Company& company, core::Patience& patience, bool brief) noexcept {
    if (brief && !company.expected()) return company.came();
    if (++patience.answers == core::Company::many) company.trust();
}

/// How recipes of the laboratory wait: as libraries do that have no better way. True in the end.
template <class Engine, Condition C>
bool poll_until(Engine& engine, core::Thread& thread, C& condition) {
    for (std::uint32_t polls = 1; !condition.holds(); ++polls) {
        engine.poll_in_laboratory(thread);
        if (thread.patience.crowded || engine.short_of_cores() || polls % burst == 0) offer_core(thread.patience);
        else platform::pause();
    }
    return true;
}

/// True if the condition came to hold within the thread's patience.
template <class Engine, Condition C>
bool spin(Engine& engine, core::Thread& thread, C& condition) {
    core::Patience& patience = thread.patience;
    if (patience.polls == 0) [[unlikely]] {
        if (engine.in_laboratory()) return poll_until(engine, thread, condition);
        patience.polls = most_polls;
    }
    std::uint32_t offers = 0;
    for (std::uint32_t polls = 0; polls < patience.polls && offers < most_offers;) {
        const bool crowded = patience.crowded || engine.short_of_cores();
        // After a turn of answers the others on this core have theirs.
        const bool brief = crowded && (!engine.company().expected() || patience.answers % turn == turn - 1);
        std::uint32_t more = burst;  // but other instances must have their turn
        for (std::uint32_t left = brief ? 1 : burst; left > 0; --left) {
            const bool moved = engine.poll(thread, condition.likely_instances());
            if (condition.holds()) {
                patience.polls = std::min(most_polls, patience.polls + 8);
                if (crowded) note_answer(engine.company(), patience, brief);
                return true;
            }
            // Messages keep coming: changing threads now would cost more than waiting for the next.
            if (moved && left <= polls_after_progress && more > 0) {
                left = polls_after_progress + 1;
                --more;
            }
            platform::pause();
        }
        if (crowded && !brief) engine.company().stayed_away(std::exchange(patience.answers, 0));
        engine.poll_all(thread);
        if (condition.holds()) return true;
        if (!offer_core(patience)) return condition.holds();
        ++offers;
        // On a crowded core polls cost little and the offers count.
        polls += crowded ? patience.polls / most_offers + 1 : burst;
    }
    return false;
}

/// Leads until the condition holds or the slot has been signalled.
template <class Engine, Condition C>
void lead(Engine& engine, core::Thread& thread, C& condition) {
    sync::Doorbell& bell = engine.bell();
    while (!condition.holds()) {
        bell.prepare();
        if (!thread.slot.enter_bell(bell)) break;  // signalled
        engine.lot().set_leader_asleep(true);
        const bool watching = engine.cool_idle();
        const auto announced = engine.announce_backlog(thread);
        sync::NodeFence::heavy();  // F2: pairs with F1 in Producer::cold() and Turn::complete()
        if (!engine.something_to_do(thread, announced) && !condition.holds()) {
            if (watching) bell.sleep_for(watch_period);
            else bell.sleep();
            thread.progress.wakeups.add();
        }
        bell.cancel();
        engine.lot().set_leader_asleep(false);
        thread.slot.leave_bell();
        engine.poll_all(thread);
        if (thread.slot.signalled() || condition.holds()) break;
        // Messages come in bursts; while the leader is up, senders need not ring for each.
        if (!watching && spin(engine, thread, condition)) break;
    }
    bell.cancel();
}

/// Sleeps until the condition holds.
template <class Engine, Condition C>
void park(Engine& engine, core::Thread& thread, C& condition) {
    const std::uint64_t instances = condition.instances();
    Notice notice(thread, condition);
    engine.add_parked(instances, +1);
    thread.progress.parks.add();
    tool::raise(tool::Event::thread_parks, {thread.system_id});
    engine.lot().enter(thread);
    engine.cool(instances);
    for (bool leading = false;;) {
        thread.slot.prepare();
        condition.announce(&thread.slot);
        engine.announce_backlog(thread);  // the leader may have gone to sleep before there was one
        sync::NodeFence::heavy();         // F2, as in lead()
        // All of them: room may have come just before it was asked for.
        engine.poll_all(thread);
        if (condition.holds()) {
            condition.announce(nullptr);
            engine.add_parked(instances, -1);
            engine.lot().leave(thread, leading);
            return tool::raise(tool::Event::thread_goes_on, {thread.system_id});
        }
        leading = leading || engine.lot().try_lead();
        if (leading) {
            lead(engine, thread, condition);
        } else {
            thread.slot.sleep();
            thread.progress.wakeups.add();
        }
    }
}

/// Returns when the condition holds.
template <class Engine, Condition C>
void wait(Engine& engine, core::Thread& thread, C&& condition) {
    if (condition.holds() || spin(engine, thread, condition)) return;
    const auto before = std::chrono::steady_clock::now();
    park(engine, thread, condition);
    std::uint32_t& polls = thread.patience.polls;
    if (std::chrono::steady_clock::now() - before > long_sleep) polls = std::max(fewest_polls, polls / 2);
    else polls = std::min(most_polls, polls * 2);
}

}  // namespace heddle::progress
