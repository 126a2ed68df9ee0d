// SPDX-License-Identifier: BSD-3-Clause
/// Synchronisation of one-sided communication (MPI 5.0, 12.5).

#include "api/completion.hpp"
#include "api/entry.hpp"
#include "api/rma_arguments.hpp"
#include "api/rma_short.hpp"
#include "rma/completion.hpp"
#include "rma/epochs.hpp"
#include "rma/locking.hpp"

namespace heddle::api {
namespace {

using AtFence =
    Assertion<MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED>;
using AtPost = Assertion<MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT>;
using NoCheck = Assertion<MPI_MODE_NOCHECK>;

int fence(Thread& thread, AtFence assertion, Win win) {
    return rma::fence(thread, *win, assertion.value);
}

int post(Thread& thread, Group group, AtPost assertion, Win win) {
    return rma::post(thread, *win, *group, assertion.value);
}

int start_epoch(Thread& thread, Group group, NoCheck assertion, Win win) {
    return rma::start(thread, *win, *group, assertion.value);
}

int win_complete(Thread& thread, Win win) { return rma::complete(thread, *win); }

int wait_for_epoch(Thread& thread, Win win) { return rma::wait(thread, *win); }

int test_epoch(Thread& thread, Win win, Out<int> flag) {
    const objects::Exposure& exposure = win->exposure;
    if (!exposure.open) return rma::no_exposure(thread, *win);
    if (!rma::is_complete(exposure)) make_progress(thread, exposure.announced);
    *flag = rma::is_complete(exposure);
    return *flag != 0 ? rma::wait(thread, *win) : MPI_SUCCESS;
}

struct LockType {
    static constexpr const char* name = "lock_type";
    int value;

    LockType(const auto&, int raw) noexcept : value(raw) {}
    int error(const Communicator*) const noexcept {
        return value == MPI_LOCK_EXCLUSIVE || value == MPI_LOCK_SHARED ? MPI_SUCCESS
                                                                       : MPI_ERR_LOCKTYPE;
    }
    std::string wrong(const Communicator*) const {
        return std::to_string(value) + " is neither MPI_LOCK_EXCLUSIVE nor MPI_LOCK_SHARED";
    }
};

int lock(Thread& thread, LockType type, LockedRank rank, NoCheck assertion, Win win) {
    return rma::lock(thread, *win, rank.rank, type.value == MPI_LOCK_EXCLUSIVE, assertion.value);
}
int unlock(Thread& thread, LockedRank rank, Win win) {
    return rma::unlock(thread, *win, rank.rank);
}
int lock_all(Thread& thread, NoCheck assertion, Win win) {
    return rma::lock_all(thread, *win, assertion.value);
}
int unlock_all(Thread& thread, Win win) { return rma::unlock_all(thread, *win); }

int flush_rank(Thread& thread, LockedRank rank, Win win) {
    if (!rma::is_locked(*win, rank.rank)) [[unlikely]]
        return rma::not_locked(thread, *win, rank.rank);
    return rma::complete_operations(thread, *win, rank.rank);
}
int flush_all(Thread& thread, Win win) {
    if (!rma::is_any_locked(*win)) [[unlikely]]
        return rma::nothing_locked(thread, *win);
    return rma::complete_operations(thread, *win);
}
/// Completes operations locally. Data sent to other nodes may be changed as soon as a call returns.
/// Data from them come later.
int flush_rank_locally(Thread& thread, LockedRank rank, Win win) {
    if (!rma::is_locked(*win, rank.rank)) return rma::not_locked(thread, *win, rank.rank);
    return win->targets[rank.rank].far ? win->far->flush_local(thread, rank.rank)
                                       : rma::flush_gathered(thread, *win, rank.rank);
}
int flush_local_all(Thread& thread, Win win) {
    if (!rma::is_any_locked(*win)) return rma::nothing_locked(thread, *win);
    const int near = rma::flush_gathered(thread, *win);
    const int far = win->far != nullptr ? win->far->flush_all_local(thread) : MPI_SUCCESS;
    return near != MPI_SUCCESS ? near : far;
}

int win_sync(Thread&, Win) {
    std::atomic_thread_fence(seq_cst);
    return MPI_SUCCESS;
}

}  // namespace
}  // namespace heddle::api

using namespace heddle::api;

MPI_ENTRY(2, Win_fence, fence)
MPI_ENTRY(3, Win_post, post)
MPI_ENTRY(3, Win_start, start_epoch)
MPI_ENTRY(1, Win_complete, win_complete)
MPI_ENTRY(1, Win_wait, wait_for_epoch)
MPI_ENTRY(2, Win_test, test_epoch)
MPI_ENTRY(4, Win_lock, lock)
MPI_ENTRY(2, Win_unlock, unlock)
MPI_ENTRY(2, Win_lock_all, lock_all)
MPI_ENTRY(1, Win_unlock_all, unlock_all)
MPI_ENTRY_SHORT(2, Win_flush, short_ways::tried<short_ways::flush>, flush_rank)
MPI_ENTRY(1, Win_flush_all, flush_all)
MPI_ENTRY_SHORT(2, Win_flush_local, short_ways::tried<short_ways::flush_local>, flush_rank_locally)
MPI_ENTRY(1, Win_flush_local_all, flush_local_all)
MPI_ENTRY(1, Win_sync, win_sync)
