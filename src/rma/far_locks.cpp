// SPDX-License-Identifier: BSD-3-Clause
/// Locks of targets of other nodes. Their processes take tickets for this one, and answer at once.
/// If this process has to wait, the process that lets it in notifies it, and it asks again.

#include <new>
#include <sched.h>

#include "objects/process.hpp"
#include "rma/admission.hpp"
#include "rma/far_targets.hpp"
#include "rma/named_wait.hpp"
#include "rma/whole_locking.hpp"

namespace heddle::rma {

using core::Request;
using core::Thread;
using p2p::AccessFields;

/// Asks on behalf of a thread that holds something that others want. Without memory it makes
/// progress until there is some.
Request& FarTargets::insist(Thread& thread, std::int32_t rank, const AccessFields& fields,
                            void* answer, std::uint64_t bytes) {
    for (;;) try {
            return ask(thread, rank, fields, answer, bytes);
        } catch (const std::bad_alloc&) {
            thread.engine->polling().poll_all(thread);
            sched_yield();
        }
}

void FarTargets::ask_for(Thread& thread, Lock& lock, LockStage stage) {
    const FarKind kind = lock.exclusive ? FarKind::lock_exclusive : FarKind::lock_shared;
    AccessFields fields = question(kind, lock.answer.ticket, 0, static_cast<std::uint64_t>(stage));
    fields.operation = lock.holds ? 1 : 0;
    Request& request = stage == LockStage::begins
        ? ask(thread, lock.rank, fields, &lock.answer, sizeof lock.answer)
        : insist(thread, lock.rank, fields, &lock.answer, sizeof lock.answer);
    (void)hear(thread, request, lock.rank, AwaitedKind::window_lock_asked);
}

int FarTargets::wait_for(Thread& thread, const Lock& lock) {
    thread.windows.window_lock_waits.add();
    if (lock.answer.state == LockAnswer::queued_at_whole) {
        const std::int32_t first = window_.first_beside[static_cast<std::size_t>(lock.rank)];
        return hear_of_admission(thread, window_, whole_tag(first, kind_of_writer(lock.holds)),
                                 {lock.rank, nullptr});
    }
    const std::atomic<std::int32_t> writer{lock.answer.writer};
    return hear_of_admission(thread, window_, admitted_message + lock.rank, {lock.rank, &writer});
}

/// Asks for the lock as often as it takes.
int FarTargets::lock(Thread& thread, std::int32_t rank, bool exclusive, bool holds) {
    Lock lock{rank, exclusive, holds, {}};
    ask_for(thread, lock, LockStage::begins);
    while (lock.answer.state != LockAnswer::granted) {
        if (const int error = wait_for(thread, lock)) return error;
        ask_for(thread, lock,
                lock.answer.state == LockAnswer::queued ? LockStage::at_gate : LockStage::at_whole);
    }
    window_.targets[rank].ticket.store(lock.answer.ticket, relaxed);
    return MPI_SUCCESS;
}

void FarTargets::unlock(Thread& thread, std::int32_t rank, bool exclusive) {
    const FarKind kind = exclusive ? FarKind::unlock_exclusive : FarKind::unlock_shared;
    const std::uint32_t ticket = window_.targets[rank].ticket.load(relaxed);
    Request& request = insist(thread, rank, question(kind, ticket), nullptr, 0);
    (void)hear(thread, request, rank, AwaitedKind::window_unlock);
}

WholeState FarTargets::take_step(Thread& thread, std::int32_t first, WholeStep step) {
    WholeState state{};
    const AccessFields fields = question(FarKind::whole, 0, 0, static_cast<std::uint64_t>(step));
    Request& request = insist(thread, first, fields, &state, sizeof state);
    (void)hear(thread, request, first, AwaitedKind::window_lock_all);
    return state;
}

void FarTargets::leave_all_nodes(Thread& thread) {
    for (const std::int32_t first : window_.nodes)
        if (first != window_.here.front()) (void)take_step(thread, first, WholeStep::leave);
}

}  // namespace heddle::rma
