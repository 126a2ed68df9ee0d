// SPDX-License-Identifier: BSD-3-Clause
/// Operations with a process of another job that is gone, where the program wants to go on (comm/letters.hpp): what can only
/// be completed by that process fails with MPI_ERR_PROC_ABORTED.

#include <vector>

#include "mpi.h"
#include "objects/communicator.hpp"
#include "p2p/engine.hpp"

namespace heddle::p2p {
namespace {

/// Whether its message comes from that process, or may, since it takes one from any process of its communicator. As long as
/// one of these is there, a process that has left is not missed.
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
    });
    fail_sends_to(call, process);
    finish(call);
}

/// Those that its answers would complete.
void Engine::fail_sends_to(ProgressCall& call, std::int32_t process) {
    for (std::size_t i = 0; core::Request* request = base_.requests.at_place(i); ++i) {
        const bool awaits_answer = request->synchronous || request->announced;
        if (request->kind.load(relaxed) == core::Kind::request && request->peer == process &&
            request->operation == core::Operation::send && awaits_answer && !request->completed())
            fail_request(call, *request);
    }
}

void Engine::fail_request(ProgressCall& call, core::Request& request) noexcept {
    request.error = MPI_ERR_PROC_ABORTED;
    call.complete(request);
}

}  // namespace heddle::p2p
