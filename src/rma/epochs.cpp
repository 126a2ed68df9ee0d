// SPDX-License-Identifier: BSD-3-Clause
#include "rma/epochs.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "coll/collectives.hpp"
#include "coll/run.hpp"
#include "coll/select.hpp"
#include "objects/errors.hpp"
#include "objects/process.hpp"
#include "rma/admission.hpp"
#include "rma/completion.hpp"
#include "rma/meeting.hpp"
#include "rma/named_wait.hpp"

namespace heddle::rma {
namespace {

using core::Thread;
using objects::Exposure;
using objects::Window;

/// Returns the ranks in the window. A member of the group only has MPI_UNDEFINED.
objects::Members ranks_in(const Window& window, const objects::Group& group) {
    return objects::ranks_of(group.processes, window.communicator->group->processes);
}

int ranks_of_epoch(Thread& thread, Window& window, const objects::Group& group,
                   objects::Members& ranks) {
    ranks = ranks_in(window, group);
    const auto stranger = std::find(ranks.begin(), ranks.end(), MPI_UNDEFINED);
    if (stranger == ranks.end()) return MPI_SUCCESS;
    return objects::fail(thread, window, MPI_ERR_GROUP,
                         "argument group: its rank " + std::to_string(stranger - ranks.begin()) +
                             " is not in the window's group");
}

/// Starts to receive an empty message from each rank of the epoch.
void listen(Thread& thread, Window& window, Exposure& epoch, std::int32_t tag) {
    objects::Communicator& communicator = *window.communicator;
    for (const std::int32_t rank : epoch.ranks)
        epoch.announced.push_back(p2p::start_receive(thread, communicator, context_of(communicator),
                                                     nullptr, 0, rank, tag));
}

int hear(Thread& thread, Window& window, Exposure& epoch, AwaitedKind awaited) {
    int first = MPI_SUCCESS;
    const std::vector<core::Request*> announced = std::exchange(epoch.announced, {});
    for (std::size_t i = 0; i < announced.size(); ++i)
        if (const int error = finish(thread, window, announced[i], epoch.ranks[i], awaited))
            first = first == MPI_SUCCESS ? error : first;
    return first;
}

/// Sends a message to each rank of the epoch. Waits for none of them: MPI_Win_post is local,
/// however full their lanes are.
int tell_all(Thread& thread, Window& window, const Exposure& epoch, std::int32_t tag) {
    for (const std::int32_t rank : epoch.ranks)
        if (!tell(thread, *window.communicator, rank, tag))
            return objects::fail(thread, window, MPI_ERR_NO_MEM, "no memory for a message");
    return MPI_SUCCESS;
}

void set_started(Window& window, bool open) noexcept {
    for (const std::int32_t rank : window.started.ranks) {
        std::atomic<std::uint32_t>& target = window.targets[rank].open;
        const std::uint32_t others = target.load(relaxed) & ~std::uint32_t{objects::by_start};
        target.store(open ? others | objects::by_start : others, relaxed);
    }
    window.started.open = open;
}

/// Waits for all processes. Fences are frequent, other than the uses of meet(), so the barrier uses
/// scratch memory if there is some.
int barrier(Thread& thread, objects::Communicator& communicator) {
    const std::int32_t tag = coll::tag_of(coll::Collective::barrier, *thread.engine, communicator);
    coll::Schedule schedule(thread, communicator, tag);
    coll::barrier(schedule);
    schedule.finish();
    return coll::run(thread, schedule);
}

int wait_for_turn(Thread& thread, Window& window) {
    objects::Communicator& communicator = *window.communicator;
    return finish(thread, window,
                  p2p::start_receive(thread, communicator, context_of(communicator), nullptr, 0,
                                     communicator.rank, fence_message),
                  communicator.rank, AwaitedKind::window_fence);
}

int fence_alone(Thread& thread, Window& window, int assertion) {
    if (const int error = refuse_open(thread, window)) return error;
    // A message may be read before the stores that precede it are done, if the kernel makes the
    // copies.
    const int refused = complete_operations(thread, window);
    if (const int error = barrier(thread, *window.communicator)) return error;
    const bool succeeds = (assertion & MPI_MODE_NOSUCCEED) == 0;
    window.open_to_all.store(succeeds ? std::uint32_t{objects::by_fence} : 0, relaxed);
    return refused;
}

}  // namespace

const char* epoch_in_the_way(const Window& window) noexcept {
    if (window.started.open) return "between MPI_Win_start and MPI_Win_complete";
    if ((window.open_to_all.load(relaxed) & objects::by_locks_of_all) != 0)
        return "between MPI_Win_lock_all and MPI_Win_unlock_all";
    if (window.locks.load(relaxed) != 0) return "while it holds a lock of the window";
    return nullptr;
}

int refuse_epoch(Thread& thread, Window& window, const char* why) {
    return objects::fail(thread, window, MPI_ERR_RMA_SYNC, std::string("called ") + why);
}

int no_exposure(Thread& thread, Window& window) {
    return objects::fail(thread, window, MPI_ERR_RMA_SYNC, "called without MPI_Win_post before");
}

int refuse_open(Thread& thread, Window& window) {
    if (const char* why = epoch_in_the_way(window)) return refuse_epoch(thread, window, why);
    if (window.exposure.open)
        return refuse_epoch(thread, window, "between MPI_Win_post and MPI_Win_wait");
    return MPI_SUCCESS;
}

/// Ends an epoch and begins another. Threads of a process that fence at once do so one after the
/// other. Other threads may access the window meanwhile.
int fence(Thread& thread, Window& window, int assertion) {
    if (window.fencing.fetch_add(1, acquire) != 0) [[unlikely]]  // A1: pairs with R1
        if (const int error = wait_for_turn(thread, window)) return error;
    const int error = fence_alone(thread, window, assertion);
    if (window.fencing.fetch_sub(1, release) != 1) [[unlikely]]  // R1
        tell_of_admission(thread, window, window.communicator->rank, fence_message);
    return error;
}

int post(Thread& thread, Window& window, const objects::Group& group, int assertion) {
    if (window.exposure.open)
        return refuse_epoch(thread, window, "a second time without MPI_Win_wait");
    Exposure epoch;
    if (const int error = ranks_of_epoch(thread, window, group, epoch.ranks)) return error;
    window.open_to_all.fetch_and(~std::uint32_t{objects::by_fence}, relaxed);
    listen(thread, window, epoch, complete_message);
    epoch.open = true;
    window.exposure = std::move(epoch);
    if ((assertion & MPI_MODE_NOCHECK) != 0) return MPI_SUCCESS;
    return tell_all(thread, window, window.exposure, post_message);
}

int start(Thread& thread, Window& window, const objects::Group& group, int assertion) {
    if (const char* why = epoch_in_the_way(window)) return refuse_epoch(thread, window, why);
    Exposure epoch;
    if (const int error = ranks_of_epoch(thread, window, group, epoch.ranks)) return error;
    window.open_to_all.store(0, relaxed);
    if ((assertion & MPI_MODE_NOCHECK) == 0) listen(thread, window, epoch, post_message);
    if (const int error = hear(thread, window, epoch, AwaitedKind::window_post)) return error;
    window.started = std::move(epoch);
    set_started(window, true);
    return MPI_SUCCESS;
}

int complete(Thread& thread, Window& window) {
    if (!window.started.open)
        return objects::fail(thread, window, MPI_ERR_RMA_SYNC,
                             "called without MPI_Win_start before");
    set_started(window, false);
    const int refused = complete_operations(thread, window);
    if (const int error = tell_all(thread, window, window.started, complete_message)) return error;
    return refused;
}

bool is_complete(const Exposure& exposure) noexcept {
    return std::all_of(exposure.announced.begin(), exposure.announced.end(),
                       [](const core::Request* one) { return one == nullptr || one->completed(); });
}

int wait(Thread& thread, Window& window) {
    if (!window.exposure.open) return no_exposure(thread, window);
    const int error = hear(thread, window, window.exposure, AwaitedKind::window_complete);
    window.exposure = {};
    return error;
}

}  // namespace heddle::rma
