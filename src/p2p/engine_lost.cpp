// SPDX-License-Identifier: BSD-3-Clause
/// Ends operations with a lost process of another job if the program wants to go on
/// (comm/letters.hpp). Operations that only that process can complete fail with
/// MPI_ERR_PROC_ABORTED.

#include <vector>

#include "mpi.h"
#include "objects/communicator.hpp"
#include "p2p/engine.hpp"
#include "p2p/requests/awaited_peer.hpp"
#include "p2p/requests/listener.hpp"

namespace heddle::p2p {
namespace {

/// Returns whether the receive's message comes, or may come, from that process. A receive from any
/// process of its communicator may get it. As long as one of those processes is there, a process
/// that has left is not missed.
bool waits_for(const core::Request& receive, std::int32_t process,
               GuestListener& listener) noexcept {
    const objects::Communicator* const communicator = objects::live(receive.communicator);
    if (communicator == nullptr) return false;
    if (receive.source != match::any_source)
        return objects::process_named_by(*communicator, receive.source) == process;
    bool is_member = false, all_gone = true;
    for (std::int32_t rank = 0; rank < communicator->peers; ++rank) {
        const std::int32_t member = objects::process_named_by(*communicator, rank);
        is_member |= member == process;
        all_gone &= listener.is_gone(member);
    }
    return is_member && (all_gone || !listener.has_left(process));
}

/// Visits incomplete requests that only that process completes.
template <class Visit>
void each_awaiting(Requests& requests, core::Operation operation, std::int32_t process,
                   Visit&& visit) {
    for (std::size_t i = 0; core::Request* request = requests.at_place(i); ++i)
        if (request->operation == operation && !request->completed() &&
            awaits_peer(*request, process))
            visit(*request);
}

bool is_named(const core::Request& request) noexcept {
    return request.kind.load(relaxed) == core::Kind::request;
}

/// Wakes the thread that waits for a request that no handle names. That thread owns it, and looks
/// for itself (Far::watch_sender()).
void wake_waiter(core::Request& request) noexcept {
    sync::Slot* const waiter = request.waiter.load(relaxed);
    if (waiter != nullptr && !Listener::is(waiter)) waiter->signal();
}

}  // namespace

void Engine::fail_operations_with(core::Thread& thread, std::int32_t process) {
    ProgressCall call(thread);
    finish_after(call, [&] {
        const instance::AllInstances all = base_.lock_all();
        std::vector<core::Request*> waiting;
        const auto note = [&](const core::Request& receive) {
            if (waits_for(receive, process, *base_.guest_listener))
                waiting.push_back(const_cast<core::Request*>(&receive));
        };
        const auto fail = [&](auto& posted) {
            waiting.clear();
            posted.each_posted(note);
            for (core::Request* receive : waiting)
                if (posted.cancel(*receive)) fail_request(call, *receive);
        };
        all.each([&](instance::LockedInstance instance) { fail(instance->matcher); });
        any_tag_.each_list(all, fail);
        // With all instances locked no other thread works on them.
        fail_sends_to(call, process);
        each_awaiting(base_.requests, core::Operation::receive, process,
                      [&](core::Request& receive) {
                          if (is_named(receive) || Listener::is(receive.waiter.load(relaxed)))
                              fail_request(call, receive);
                          else
                              wake_waiter(receive);
                      });
    });
}

/// Fails sends that answers of that process would complete.
void Engine::fail_sends_to(ProgressCall& call, std::int32_t process) {
    each_awaiting(base_.requests, core::Operation::send, process, [&](core::Request& send) {
        is_named(send) ? fail_request(call, send) : wake_waiter(send);
    });
}

void Engine::fail_request(ProgressCall& call, core::Request& request) noexcept {
    request.error = MPI_ERR_PROC_ABORTED;
    set_awaits_payload(request, false);
    call.complete(request);
}

}  // namespace heddle::p2p
