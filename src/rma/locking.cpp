// SPDX-License-Identifier: BSD-3-Clause
#include "rma/locking.hpp"

#include <atomic>
#include <cstdio>
#include <string>

#include "objects/errors.hpp"
#include "objects/process.hpp"
#include "rma/admission.hpp"
#include "rma/completion.hpp"
#include "rma/control.hpp"
#include "rma/epochs.hpp"
#include "rma/meeting.hpp"
#include "rma/whole_locking.hpp"

namespace heddle::rma {
namespace {

using core::Thread;
using objects::Target;
using objects::Window;
using Ticket = WindowLock::Ticket;

/// One lock, as seen by the process that wants, holds or releases it.
class Holder {
public:
    Holder(Thread& thread, Window& window, std::int32_t target) noexcept
        : thread_(thread),
          window_(window),
          state_(state_of(window, target)),
          places_(rma::places_of(window, target)),
          target_(target) {}

    int acquire_as_reader() {
        const Ticket ticket = state_.lock.take_ticket();
        if (const int error = wait(ticket, false)) return error;
        pass_on(state_.lock.come_in(ticket, places_));
        return MPI_SUCCESS;
    }
    void leave_as_reader() { pass_on(state_.lock.leave_as_reader(places_)); }

    /// Acquires the lock. `holds`: this process has another lock of the window.
    int acquire_as_writer(bool holds) {
        if (window_.front->lock.enter_as_writer(parties_of(window_), me(), holds) != WholeState::in)
            [[unlikely]]
            if (const int error = wait_as_writer(thread_, window_, target_, holds)) return error;
        const Ticket ticket = state_.lock.take_ticket();
        if (const int error = wait(ticket, true)) return error;
        state_.writer.store(me() + 1, relaxed);
        window_.targets[target_].ticket.store(ticket, relaxed);
        return MPI_SUCCESS;
    }
    void leave_as_writer() {
        state_.writer.store(0, relaxed);
        pass_on(
            state_.lock.leave_as_writer(window_.targets[target_].ticket.load(relaxed), places_));
        if (window_.front->lock.leave_as_writer(parties_of(window_))) [[unlikely]]
            tell_let_in(thread_, window_);
    }

private:
    std::int32_t me() const noexcept { return window_.communicator->rank; }
    bool admitted(Ticket ticket, bool writer) const noexcept {
        return writer ? state_.lock.admits_writer(ticket) : state_.lock.admits_reader(ticket);
    }

    int wait(Ticket ticket, bool writer) {
        if (admitted(ticket, writer)) [[likely]]
            return MPI_SUCCESS;
        thread_.windows.window_lock_waits.add();
        while (!admitted(ticket, writer)) {
            state_.lock.wait_in_place(ticket, me(), writer, places_);
            if (admitted(ticket, writer) && state_.lock.stop_waiting(ticket, places_)) break;
            if (const int error = hear_of_admission()) return error;
        }
        return MPI_SUCCESS;
    }

    int hear_of_admission() {
        return rma::hear_of_admission(thread_, window_, admitted_message + target_,
                                      {target_, &state_.writer});
    }

    /// Notifies the waiter that `entry` names: it is admitted.
    void pass_on(std::uint32_t entry) {
        if (entry != WindowLock::nobody) [[unlikely]]
            tell_of_admission(thread_, window_, WindowLock::rank_in(entry),
                              admitted_message + target_);
    }

    Thread& thread_;
    Window& window_;
    TargetState& state_;
    const WindowLock::Places places_;
    const std::int32_t target_;
};

/// Prints a warning, once in a process.
[[gnu::cold]] void warn_of_locks(const Thread& thread, const Window& window) {
    static std::atomic<bool> warned{false};
    if (warned.exchange(true, relaxed)) return;
    std::fprintf(stderr,
                 "heddle: rank %d locks %s, which was made with the info key no_locks. Locks work "
                 "all the same; leave the key out.\n",
                 thread.process->rank(), objects::name_of(window).c_str());
}

/// Refuses a lock within another epoch.
int refuse_lock(Thread& thread, Window& window) {
    if (window.hints.no_locks) warn_of_locks(thread, window);
    if (window.started.open || (window.open_to_all.load(relaxed) & objects::by_locks_of_all) != 0)
        return refuse_epoch(thread, window, epoch_in_the_way(window));
    return MPI_SUCCESS;
}

/// Opens each target of this node.
void open_near(Window& window, std::uint32_t how) noexcept {
    for (const std::int32_t rank : window.here) window.targets[rank].open.store(how, relaxed);
}

void close_fence(Window& window) noexcept {
    if (window.open_to_all.load(relaxed) != 0)
        window.open_to_all.fetch_and(~std::uint32_t{objects::by_fence}, relaxed);
}

/// Releases the lock that lock() has acquired.
[[gnu::always_inline]] inline void leave(Thread& thread, Window& window, std::int32_t rank,
                                         std::uint32_t how) {
    Holder holder(thread, window, rank);
    how == objects::by_exclusive_lock ? holder.leave_as_writer() : holder.leave_as_reader();
}

[[gnu::cold, gnu::noinline]] int leave_unusually(Thread& thread, Window& window, std::int32_t rank,
                                                 std::uint32_t how) {
    const int refused = complete_operations(thread, window, rank);
    const std::uint8_t unlocking = window.targets[rank].unlocking;
    if ((unlocking & objects::nobody_asked) != 0) return refused;
    if ((unlocking & objects::other_nodes) == 0)
        leave(thread, window, rank, how);
    else
        window.far->unlock(thread, rank, how == objects::by_far_exclusive_lock);
    return refused;
}
[[gnu::cold, gnu::noinline]] int leave_all_unusually(Thread& thread, Window& window) {
    if (window.far != nullptr) open_near(window, 0);
    const int refused = complete_operations(thread, window);
    if ((window.unlocking_all & objects::nobody_asked) == 0) unlock_whole(thread, window);
    return refused;
}

int lock_near(Thread& thread, Window& window, std::int32_t rank, bool exclusive, bool holds) {
    Target& target = window.targets[rank];
    Holder holder(thread, window, rank);
    if (target.unlocking == 0)
        if (const int error =
                exclusive ? holder.acquire_as_writer(holds) : holder.acquire_as_reader())
            return error;
    if (window.gathered != nullptr) target.unlocking |= objects::gathered;
    target.open.store(exclusive ? objects::by_exclusive_lock : objects::by_shared_lock, relaxed);
    return MPI_SUCCESS;
}

/// Locks a target of another node.
[[gnu::cold, gnu::noinline]] int lock_far(Thread& thread, Window& window, std::int32_t rank,
                                          bool exclusive, bool holds) {
    Target& target = window.targets[rank];
    const bool unchecked = (target.unlocking & objects::nobody_asked) != 0;
    target.unlocking |= objects::other_nodes;
    if (!unchecked)
        if (const int error = window.far->lock(thread, rank, exclusive, holds)) return error;
    target.open.store(exclusive ? objects::by_far_exclusive_lock : objects::by_far_shared_lock,
                      relaxed);
    return MPI_SUCCESS;
}

/// Opens the targets of all nodes. The flush of a near target stays a fence.
[[gnu::cold, gnu::noinline]] void open_all_nodes(Window& window) noexcept {
    window.unlocking_all |= objects::other_nodes;
    open_near(window, objects::by_lock_all);
    window.open_to_all.store(objects::by_lock_all_nodes, relaxed);
}

/// A lock that is being asked for. Unless it is kept, memory or a peer was missing, and the process
/// has not acquired the lock.
class Asking {
public:
    Asking(Window& window, Target& target) noexcept
        : window_(window), target_(target), has_others_(window.locks.fetch_add(1, relaxed) != 0) {}
    ~Asking() {
        if (kept_) return;
        window_.locks.fetch_sub(1, relaxed);
        target_.asked.store(false, release);
    }
    Asking(const Asking&) = delete;
    Asking& operator=(const Asking&) = delete;
    void keep() noexcept { kept_ = true; }
    bool has_others() const noexcept { return has_others_; }

private:
    Window& window_;
    Target& target_;
    const bool has_others_;
    bool kept_ = false;
};

}  // namespace

int nothing_locked(Thread& thread, Window& window) {
    return objects::fail(thread, window, MPI_ERR_RMA_SYNC,
                         "no lock is held: neither MPI_Win_lock nor MPI_Win_lock_all was called");
}

int not_locked(Thread& thread, Window& window, std::int32_t rank) {
    return objects::fail(thread, window, MPI_ERR_RMA_SYNC,
                         "rank " + std::to_string(rank) + " is not locked by this process");
}

int lock(Thread& thread, Window& window, std::int32_t rank, bool exclusive, int assertion) {
    if (const int error = refuse_lock(thread, window)) return error;
    Target& target = window.targets[rank];
    if (target.asked.exchange(true, acquire))
        return objects::fail(thread, window, MPI_ERR_RMA_SYNC,
                             "this process has locked rank " + std::to_string(rank) + " already");
    Asking asking(window, target);
    close_fence(window);
    const bool unchecked = (assertion & MPI_MODE_NOCHECK) != 0;
    target.unlocking = unchecked ? objects::nobody_asked : 0;
    if (const int error = target.far
            ? lock_far(thread, window, rank, exclusive, asking.has_others())
            : lock_near(thread, window, rank, exclusive, asking.has_others()))
        return error;
    asking.keep();
    return MPI_SUCCESS;
}

int unlock(Thread& thread, Window& window, std::int32_t rank) {
    Target& target = window.targets[rank];
    const std::uint32_t how = target.open.load(relaxed) & objects::by_one_lock;
    if (how == 0) return not_locked(thread, window, rank);
    target.open.store(0, relaxed);
    int error = MPI_SUCCESS;
    if (target.unlocking == 0) [[likely]]
        leave(thread, window, rank, how);
    else
        error = leave_unusually(thread, window, rank, how);
    window.locks.fetch_sub(1, relaxed);
    target.asked.store(false, release);
    return error;
}

int lock_all(Thread& thread, Window& window, int assertion) {
    if (const int error = refuse_lock(thread, window)) return error;
    if (window.locks.load(relaxed) != 0)
        return refuse_epoch(thread, window, epoch_in_the_way(window));
    const bool unchecked = (assertion & MPI_MODE_NOCHECK) != 0;
    window.unlocking_all = unchecked ? objects::nobody_asked : 0;
    if (!unchecked)
        if (const int error = lock_whole(thread, window)) return error;
    if (window.gathered != nullptr) window.unlocking_all |= objects::gathered;
    if (window.far != nullptr) [[unlikely]] {
        open_all_nodes(window);
        return MPI_SUCCESS;
    }
    window.open_to_all.store(objects::by_lock_all, relaxed);
    return MPI_SUCCESS;
}

int unlock_all(Thread& thread, Window& window) {
    if ((window.open_to_all.load(relaxed) & objects::by_locks_of_all) == 0)
        return objects::fail(thread, window, MPI_ERR_RMA_SYNC,
                             "called without MPI_Win_lock_all before");
    window.open_to_all.store(0, relaxed);
    if (window.unlocking_all != 0) [[unlikely]]
        return leave_all_unusually(thread, window);
    unlock_whole(thread, window);
    return MPI_SUCCESS;
}

}  // namespace heddle::rma
