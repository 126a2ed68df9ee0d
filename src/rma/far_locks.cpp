// SPDX-License-Identifier: BSD-3-Clause
/// Locks of targets of other nodes: their processes take tickets for this one, and answer at once. Who has to wait hears
/// from whoever lets it in, and asks again.

#include <algorithm>

#include "objects/process.hpp"
#include "rma/admission.hpp"
#include "rma/far_targets.hpp"

namespace heddle::rma {

using core::Request;
using core::Thread;

void FarTargets::ask_for(Thread& thread, Lock& lock, bool has_ticket) {
    const FarKind kind = lock.exclusive ? FarKind::lock_exclusive : FarKind::lock_shared;
    lock.request = &ask(thread, lock.rank, question(kind, lock.answer.ticket, 0, has_ticket),
                        &lock.answer, sizeof lock.answer);
}

/// What was asked for, however often it takes to be asked.
int FarTargets::take(Thread& thread, Lock& lock) {
    const auto wait = [&] {
        thread.windows.window_lock_waits.add();
        const std::atomic<std::int32_t> writer{lock.answer.writer};
        return hear_of_admission(thread, window_, lock.rank, writer);
    };
    (void)hear(thread, *lock.request, lock.rank, "its lock");
    while (lock.answer.state == LockAnswer::queued) {
        if (const int error = wait()) return error;
        ask_for(thread, lock, true);
        (void)hear(thread, *lock.request, lock.rank, "its lock");
    }
    window_.targets[lock.rank].ticket.store(lock.answer.ticket, relaxed);
    return lock.answer.state == LockAnswer::closing ? wait() : MPI_SUCCESS;
}

int FarTargets::lock(Thread& thread, std::int32_t rank, bool exclusive) {
    Lock lock{rank, exclusive, {}, nullptr};
    ask_for(thread, lock, false);
    return take(thread, lock);
}

int FarTargets::lock_all(Thread& thread) {
    std::vector<Lock> locks(ranks_.size());
    for (std::size_t i = 0; i < locks.size(); ++i) {
        locks[i] = {ranks_[i], false, {}, nullptr};
        ask_for(thread, locks[i], false);
    }
    int first = MPI_SUCCESS;
    for (Lock& lock : locks)
        if (const int error = take(thread, lock)) first = first == MPI_SUCCESS ? error : first;
    return first;
}

Request& FarTargets::ask_to_unlock(Thread& thread, std::int32_t rank, bool exclusive) {
    const FarKind kind = exclusive ? FarKind::unlock_exclusive : FarKind::unlock_shared;
    const std::uint32_t ticket = window_.targets[rank].ticket.load(relaxed);
    return ask(thread, rank, question(kind, ticket), nullptr, 0);
}

void FarTargets::unlock(Thread& thread, std::int32_t rank, bool exclusive) {
    (void)hear(thread, ask_to_unlock(thread, rank, exclusive), rank, "its lock to be left");
}

void FarTargets::unlock_all(Thread& thread) {
    std::vector<Request*> requests;
    requests.reserve(ranks_.size());
    for (const std::int32_t rank : ranks_) requests.push_back(&ask_to_unlock(thread, rank, false));
    for (std::size_t i = 0; i < requests.size(); ++i)
        (void)hear(thread, *requests[i], ranks_[i], "its lock to be left");
}

}  // namespace heddle::rma
