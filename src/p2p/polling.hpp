// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Progress: takes messages out of rings and the mailbox, and flushes the backlog. It runs work
/// that was put off while locks were held. progress/wait.hpp polls it, and asks it before a sleep.
///
/// Thread safety  every function from any thread, with that thread's own Thread, and without locks.

#include <atomic>
#include <chrono>
#include <cstdint>

#include "p2p/backlog.hpp"
#include "p2p/base.hpp"
#include "p2p/hot_rings.hpp"
#include "p2p/left_to_program.hpp"
#include "p2p/payload/idle_rings.hpp"
#include "p2p/program_threads.hpp"
#include "p2p/progress_call.hpp"
#include "p2p/requests/endings.hpp"
#include "progress/offer.hpp"
#include "progress/peer.hpp"

namespace heddle::p2p {

class AnyTag;
class Far;
class LargeCopy;
class Receiver;
class Recipes;
class Sender;
class UnexpectedNotice;

class Polling {
public:
    using Instances = instance::Instances;

    struct Others {
        Sender& sender;
        Receiver& receiver;
        AnyTag& any_tag;
        Far& far;
        Recipes& recipes;
        LargeCopy& copies;
        Backlog& backlog;
        Endings& endings;
        ProgramThreads& threads;
        HotRings& rings;
        UnexpectedNotice& unexpected_notice;
    };
    Polling(Base& base, const Others& others);

    /// Makes progress on these instances, or the first of them that has a message, and on the
    /// mailbox. Returns true if there was any. Cheap if no message came.
    bool poll(core::Thread& thread, Instances which);
    /// Makes progress on every instance in use.
    void poll_all(core::Thread& thread);
    /// Makes progress in a thread of the library for threads of the program, which make none
    /// (p2p/node_worker.hpp). Returns true if there was any, or some is left to be made.
    bool poll_for_program(core::Thread& thread);
    /// Has every poll look at the network, too, from now on.
    void look_at_network() noexcept;
    bool looks_far() const noexcept { return attention_.load(relaxed) != &base_.mailbox().rung; }
    /// Ends a progress call: runs work that was put off while locks were held.
    void finish(ProgressCall& call);

    // --- for waiting (progress/wait.hpp) ---

    /// Returns whether threads may sleep; else they poll by poll_without_sleep() (p2p/laboratory).
    bool may_sleep() const noexcept { return base_.features.sleep; }
    bool poll_without_sleep(core::Thread& thread);
    /// Returns a process by its number. Nothing is known of negative ones, of this one, and of
    /// those of other nodes.
    progress::Peer peer(std::int32_t process, Instances which) const noexcept {
        if (process < 0 || base_.is_far(process) || base_.is_self(process)) return {};
        return {base_.mailboxes.of(static_cast<std::size_t>(process)).waits, which};
    }
    /// Tells whether a thread of this process waits at these instances, and offers its core or
    /// sleeps.
    void tell_waits(Instances which, bool on) noexcept {
        auto& waits = base_.mailbox().waits;
        // Relaxed: nothing depends on it.
        on ? waits.fetch_or(which, relaxed) : waits.fetch_and(~which, relaxed);
    }
    bool offer_core(core::Patience& patience) const noexcept {
        return progress::offer_core(patience, short_of_cores());
    }
    core::Company& company() noexcept { return others_.threads.company(); }
    bool short_of_cores() const noexcept { return others_.threads.short_of_cores(); }
    sync::Doorbell& bell() noexcept { return base_.bell(); }
    progress::Lot& lot() noexcept { return base_.lot; }
    void cool(Instances which) { others_.rings.cool(which); }
    bool cool_idle() { return others_.rings.cool_idle(); }
    void add_parked(Instances which, int change) noexcept;
    /// Returns the threads of this process that sleep, or are about to.
    std::uint32_t sleepers() const noexcept { return sleepers_.load(relaxed); }
    /// Asks for a ring of the bell when full rings have room again. That takes effect with
    /// fence_before_sleep(). Returns the instances whose backlogs it has announced.
    Instances announce_backlog(core::Thread& thread) {
        return others_.backlog.announce(thread, others_.rings.fence());
    }
    /// Orders announcements and cooling before the last look for work. Returns false if the thread
    /// must nap instead.
    bool fence_before_sleep() noexcept;
    /// Makes the next fence order a store that other processes look at behind a light fence.
    void uncover_fence() noexcept { others_.rings.fence().uncover(); }
    /// Returns whether progress would find work, or whether there is a backlog besides those
    /// announced.
    bool something_to_do(core::Thread& thread, Instances announced);
    /// Has used rings looked at when they have been idle for long (p2p/payload/idle_rings.hpp).
    void stir_idle_rings() noexcept {
        if (idle_rings_.stir()) [[unlikely]]
            bell().ring();
    }
    /// Returns how long the leader, which has announced that it sleeps, may sleep before the next
    /// call.
    std::chrono::nanoseconds tend_idle_rings(core::Thread& thread) noexcept {
        return idle_rings_.tend(thread);
    }
    UnexpectedNotice& unexpected_notice() noexcept { return others_.unexpected_notice; }
    IdleRings& idle_rings() noexcept { return idle_rings_; }
    LeftToProgram& left_to_program() noexcept { return left_to_program_; }
    /// Returns whether no message of this process waits for room any more.
    bool all_handed_over() const noexcept;

    // --- for recipes and probes ---

    /// Delivers messages of the instance's rings. Returns true if there were any.
    bool drain(ProgressCall& call, instance::LockedInstance instance);
    /// Looks at announcements of senders.
    void answer_mailbox(ProgressCall& call);

private:
    bool drain(ProgressCall& call, instance::LockedInstance instance, instance::Inlet& inlet);
    bool visit(core::Thread& thread, instance::Instance& instance);
    bool visit_in_turn(core::Thread& thread, Instances which);
    bool attend(core::Thread& thread);
    bool end_poll(core::Thread& thread, bool moved);
    void restore_order(ProgressCall& call);
    void run_put_off(core::Thread& thread);
    bool something_came();
    /// Returns the instances in use and those with a backlog: an instance that only sends is not in
    /// use.
    Instances in_progress() const noexcept {
        return base_.pool.used() | others_.backlog.instances();
    }

    Base& base_;
    const Others others_;
    IdleRings idle_rings_;
    LeftToProgram left_to_program_;
    /// Flag that a poll looks at besides rings: the mailbox, or one that is never zero if there is
    /// a network.
    std::atomic<const std::atomic<std::uint64_t>*> attention_;
    alignas(cache_line) std::atomic<std::uint32_t> sleepers_{0};
};

}  // namespace heddle::p2p
