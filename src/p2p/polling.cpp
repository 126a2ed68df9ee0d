// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/polling.hpp"

#include <bit>
#include <new>

#include "p2p/any_tag.hpp"
#include "p2p/far/far.hpp"
#include "p2p/laboratory/recipes.hpp"
#include "p2p/payload/large_copy.hpp"
#include "p2p/receiver.hpp"
#include "p2p/sender.hpp"

namespace heddle::p2p {
namespace {

constexpr int batch = 64;  ///< messages from one ring before the next one has its turn

/// The mailbox that a poll sees in a process that has a network: it always has something.
constexpr std::atomic<std::uint64_t> always{1};

}  // namespace

Polling::Polling(Base& base, const Others& others)
    : base_(base),
      others_(others),
      idle_rings_(base.pool, base.rings, base.rank,
                  std::chrono::nanoseconds{base.settings.idle_rings}),
      left_to_program_(base.mailbox()),
      attention_(&base.mailbox().rung) {}

void Polling::look_at_network() noexcept { attention_.store(&always, relaxed); }

bool Polling::poll_without_sleep(core::Thread& thread) { return others_.recipes.poll(thread); }

bool Polling::fence_before_sleep() noexcept {
    others_.threads.look_for_late_processes();
    return others_.rings.fence().pass_before_sleep();
}

bool Polling::all_handed_over() const noexcept {
    return others_.backlog.instances() == 0 && others_.far.all_handed_over();
}

/// Matches messages that await their place in the order.
void Polling::restore_order(ProgressCall& call) {
    if (base_.is_sequenced())
        others_.recipes.match_reordered(call);
    else
        others_.any_tag.restore_order(call);
}

/// Attends to the mailbox, and to messages from other nodes. Returns true if there were any.
bool Polling::attend(core::Thread& thread) {
    bool moved = false;
    if (base_.mailbox().rung.load(relaxed) != 0) {
        ProgressCall call(thread);
        finish_after(call, [&] { answer_mailbox(call); });
        moved = true;
    }
    // After the mailbox, which announces that work.
    if (left_to_program_.any() && !thread.of_library) [[unlikely]] {
        left_to_program_.run(thread);
        moved = true;
    }
    return others_.far.poll(thread) || moved;
}

/// Ends a poll: the mailbox, the network, and the count.
[[gnu::always_inline]] inline bool Polling::end_poll(core::Thread& thread, bool moved) {
    if (attention_.load(relaxed)->load(relaxed) != 0) [[unlikely]]
        moved = attend(thread) || moved;
    if (moved) {
        thread.progress.progress_productive.add();
        return true;
    }
    thread.progress.progress_empty.add();
    if (thread.sent_last.process >= 0) [[unlikely]]
        others_.sender.take_lines_ahead(thread);
    return false;
}

bool Polling::poll(core::Thread& thread, Instances which) {
    bool moved = false;
    // Is it one instance? (std::has_single_bit() is a call if the compiler may not use popcnt.)
    if (which != 0 && (which & (which - 1)) == 0) [[likely]]
        moved = visit(thread, base_.pool[static_cast<std::size_t>(std::countr_zero(which))]);
    else if (which != 0)
        moved = visit_in_turn(thread, which & in_progress());
    return end_poll(thread, moved);
}

/// Visits instances until one has a message. The next call begins with the one after it.
bool Polling::visit_in_turn(core::Thread& thread, Instances which) {
    const auto first = static_cast<int>(thread.visits_from);
    for (Instances left = std::rotr(which, first); left != 0; left &= left - 1) {
        const auto number = static_cast<std::uint32_t>(first + std::countr_zero(left)) % 64;
        if (!visit(thread, base_.pool[number])) continue;
        thread.visits_from = static_cast<std::uint8_t>((number + 1) % 64);
        return true;
    }
    return false;
}

void Polling::poll_all(core::Thread& thread) {
    bool moved = false;
    base_.pool.each(in_progress(),
                    [&](instance::Instance& instance) { moved |= visit(thread, instance); });
    end_poll(thread, moved);
    if (others_.any_tag.may_release_deferred()) [[unlikely]] {
        ProgressCall call(thread);
        call.needs_order = true;
        finish(call);
    }
    others_.endings.reap(thread);
}

bool Polling::poll_for_program(core::Thread& thread) {
    // First a thread of the program has to look. If this thread answered the mailbox now, it would
    // keep it from that.
    if (left_to_program_.any()) return false;
    base_.lone_thread.arrive();
    const std::uint64_t before = thread.progress.progress_productive.value();
    bool left = false;
    try {
        poll_all(thread);
        left = something_came();  // also if a lock was not free
    } catch (const std::bad_alloc&) {
        // Messages stay in their place, for the program's threads.
    }
    base_.lone_thread.leave();
    if (left_to_program_.any())
        left_to_program_.tell();  // this thread may have answered the mailbox since
    return left || thread.progress.progress_productive.value() != before;
}

/// Makes progress on the instance if there is any to make, and no other thread makes it. A backlog
/// without room is no progress.
bool Polling::visit(core::Thread& thread, instance::Instance& instance) {
    const bool backlog = instance.backlog().load(relaxed) != 0;
    if (!instance.something_came() && !backlog) return false;
    ProgressCall call(thread);
    bool moved = false;
    finish_after(call, [&] {
        if (const auto locked = instance::LockedInstance::try_lock(instance)) {
            const instance::InstanceLock held(*locked);
            moved = drain(call, held) || call.needs_order;
        }
        if (backlog && others_.backlog.flush(call, instance)) moved = true;
    });
    return moved;
}

bool Polling::drain(ProgressCall& call, instance::LockedInstance instance) {
    match::note_posted(instance->matcher.standard.counters);
    bool moved = false;
    instance->each_polled([&](instance::Inlet& inlet) {
        if (drain(call, instance, inlet)) moved = true;
    });
    return moved;
}

/// Delivers messages that have come through one ring. Returns true if there were any.
bool Polling::drain(ProgressCall& call, instance::LockedInstance instance, instance::Inlet& inlet) {
    int delivered = 0;
    for (; delivered < batch; ++delivered) {
        node::Cell* cell = inlet.ring.front();
        if (cell == nullptr) break;
        if (platform::has_bit(instance->attention, cell->context) &&
            !is_control(static_cast<MessageKind>(cell->kind)) &&
            others_.any_tag.awaits_order(instance, cell->context)) [[unlikely]] {
            call.needs_order = true;
            call.left = {&instance.instance(), &inlet};
            if (!others_.recipes.reorder(call, instance, inlet.process, *cell)) break;
            inlet.ring.pop(*cell);
            continue;
        }
        others_.receiver.deliver(call, instance, inlet.process, *cell);
        inlet.ring.pop(*cell);
    }
    if (delivered != 0) others_.rings.after_draining(instance, inlet);
    // No sender reports messages that are left in a cold ring, and this thread may go away. The
    // leader says that it sleeps before it takes this lock for a last look.
    if (delivered == batch && base_.lot.leader() == progress::Lot::Leader::asleep) [[unlikely]]
        bell().ring();
    return delivered != 0;
}

void Polling::answer_mailbox(ProgressCall& call) {
    auto& rung = base_.mailbox().rung;
    base_.pool.each(rung.load(relaxed), [&](instance::Instance& instance) {
        const auto locked = instance::LockedInstance::try_lock(instance);
        if (!locked) return;
        const instance::InstanceLock held(*locked);
        if (!held->used) [[unlikely]]
            base_.pool.first_use(held);
        // Clears the bit with the lock held. The leader, or a thread that delivers in order, must
        // not find the mailbox quiet before the inlet is listed.
        rung.fetch_and(~(Instances{1} << instance.number()), seq_cst);
        others_.rings.list_rung(held);
        drain(call, held);
    });
    others_.backlog.flush_all(call);
}

void Polling::finish(ProgressCall& call) {
    for (;;) {
        call.wake_all();
        if (call.needs_order) [[unlikely]] {
            call.needs_order = false;
            restore_order(call);
        } else if (call.pulled != call.pulls.size()) [[unlikely]] {
            others_.receiver.pull(call, Pull(call.pulls[call.pulled++]));
        } else if (!call.shares.empty()) [[unlikely]] {
            const Share next = call.shares.back();
            call.shares.pop_back();
            others_.copies.help(call, next);
        } else if (!call.undone.empty()) [[unlikely]] {
            const Undone next = call.undone.back();
            call.undone.pop_back();
            others_.copies.finish_sharing(call, next);
        } else if (call.thread.put_off != nullptr && !call.thread.working) [[unlikely]] {
            run_put_off(call.thread);
        } else {
            return;
        }
    }
}

/// Runs work one after the other, not nested: nested progress calls leave their work to this loop.
void Polling::run_put_off(core::Thread& thread) {
    thread.working = true;
    while (core::Work* work = thread.put_off) {
        thread.put_off = work->next;
        if (thread.of_library && work->calls_program()) [[unlikely]]
            left_to_program_.leave(*work);
        else
            work->run(thread);
    }
    thread.working = false;
}

void Polling::add_parked(Instances which, int change) noexcept {
    const std::uint32_t before = sleepers_.fetch_add(static_cast<std::uint32_t>(change), relaxed);
    if (before == 0) others_.far.ring_worker();
    others_.rings.add_parked(which, change);
}

bool Polling::something_came() {
    bool found = base_.mailbox().rung.load(seq_cst) != 0 || others_.any_tag.may_release_deferred();
    base_.pool.each(base_.pool.used(), [&](instance::Instance& instance) {
        found = found || instance.something_came();
    });
    return found;
}

bool Polling::something_to_do(core::Thread& thread, Instances announced) {
    bool found = something_came();
    if (found || all_handed_over()) return found;
    ProgressCall call(thread);
    finish_after(call, [&] { found = others_.backlog.flush_all(call); });
    return found || (others_.backlog.instances() & ~announced) != 0;
}

}  // namespace heddle::p2p
