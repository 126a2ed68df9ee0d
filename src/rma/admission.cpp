// SPDX-License-Identifier: BSD-3-Clause
#include "rma/admission.hpp"

#include <sched.h>

#include "objects/errors.hpp"
#include "p2p/operations.hpp"
#include "p2p/waiting.hpp"
#include "rma/meeting.hpp"
#include "rma/named_wait.hpp"

namespace heddle::rma {
namespace {

class Admission : public p2p::OneRequest {
public:
    Admission(p2p::Engine& engine, core::Request& request, const objects::Window& window,
              AwaitedLock awaited) noexcept
        : OneRequest(engine, request), window_(window), awaited_(awaited) {}

    /// Reports the wait. Any process of the window may hold the lock: several may, and they change.
    void tell(core::Thread& thread, node::WaitsFor& what) const noexcept {
        node::AwaitedEvent& event = *what.add();
        event.kind = AwaitedKind::window_lock;
        event.any_peer = true;
        tell_window(thread, window_, awaited_.target < 0 ? node::any_peer : awaited_.target, event);
        event.holder = holder();
    }

private:
    std::int32_t holder() const noexcept {
        if (awaited_.target < 0) return node::holder_unknown;
        if (awaited_.writer == nullptr) return node::holder_of_all;
        return awaited_.writer->load(relaxed) - 1;
    }

    const objects::Window& window_;
    const AwaitedLock awaited_;
};

/// Makes progress while there is no memory.
void make_progress(core::Thread& thread) {
    thread.engine->polling().poll_all(thread);
    sched_yield();
}

}  // namespace

int hear_of_admission(core::Thread& thread, objects::Window& window, std::int32_t tag,
                      AwaitedLock awaited) {
    objects::Communicator& communicator = *window.communicator;
    p2p::Engine& engine = *thread.engine;
    core::Request* message = p2p::start_receive(thread, communicator, context_of(communicator),
                                                nullptr, 0, MPI_ANY_SOURCE, tag);
    if (message == nullptr) {
        make_progress(thread);
        return MPI_SUCCESS;
    }
    if (!message->completed())
        progress::wait(engine.polling(), thread, Admission(engine, *message, window, awaited));
    return p2p::finish(thread, communicator, message);
}

void tell_of_admission(core::Thread& thread, objects::Window& window, std::int32_t rank,
                       std::int32_t tag) {
    while (!tell(thread, *window.communicator, rank, tag)) make_progress(thread);
}

}  // namespace heddle::rma
