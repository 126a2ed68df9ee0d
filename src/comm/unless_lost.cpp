// SPDX-License-Identifier: BSD-3-Clause
#include "comm/unless_lost.hpp"

#include "comm/letters.hpp"
#include "mpi.h"
#include "objects/process.hpp"
#include "p2p/operations.hpp"

namespace heddle::comm {
namespace {

/// The condition that both requests are complete, or never will be, since the other leader is gone.
class Exchanged {
public:
    Exchanged(core::Thread& thread, std::int32_t process, core::Request& send,
              core::Request& receive) noexcept
        : thread_(thread), process_(process), send_(send), receive_(receive) {}

    bool holds() const { return complete() || is_gone(); }
    bool complete() const noexcept { return send_.completed() && receive_.completed(); }
    bool is_gone() const { return thread_.process->letters->is_gone(process_); }
    p2p::Instances instances() const noexcept { return instance::all; }
    p2p::Instances likely_instances() const noexcept {
        return thread_.engine->likely_instances_of(receive_);
    }
    void announce(sync::Slot* slot) {
        // A send that was complete from the start is shared by all.
        if (slot == nullptr || !send_.completed()) (void)for_send_.make(send_, slot);
        if (slot == nullptr || !receive_.completed()) (void)for_receive_.make(receive_, slot);
        thread_.process->letters->tell_of_gone(thread_.slot, slot != nullptr);
    }
    void tell(core::Thread& thread, node::WaitsFor& what) const noexcept {
        p2p::tell_request(thread, receive_, what);
    }

private:
    core::Thread& thread_;
    const std::int32_t process_;
    core::Request& send_;
    core::Request& receive_;
    p2p::Announcement for_send_, for_receive_;
};

void wait_for_both(core::Thread& thread, std::int32_t process, core::Request& send,
                   core::Request& receive) {
    Exchanged exchanged(thread, process, send, receive);
    if (!exchanged.holds()) progress::wait(thread.engine->polling(), thread, exchanged);
}

}  // namespace

bool finish_unless_lost(core::Thread& thread, std::int32_t process, core::Request& send,
                        core::Request& receive, int& error) {
    p2p::Engine& engine = *thread.engine;
    if (engine.base().is_far(process)) engine.far().watch(process);
    wait_for_both(thread, process, send, receive);
    const bool complete = send.completed() && receive.completed();
    if (!receive.completed()) engine.receiver().cancel(thread, receive);
    if (!send.completed()) engine.sender().cancel(thread, send);
    for (core::Request* request : {&send, &receive}) {
        // A large message to a lost process stays with the engine.
        if (!request->completed()) continue;
        if (error == MPI_SUCCESS) error = request->error;
        engine.requests().free(thread, *request);
    }
    return complete;
}

}  // namespace heddle::comm
