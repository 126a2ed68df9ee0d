// SPDX-License-Identifier: BSD-3-Clause
#include "rma/admission.hpp"

#include <cstdio>
#include <sched.h>
#include <string>

#include "objects/errors.hpp"
#include "p2p/operations.hpp"
#include "p2p/waiting.hpp"
#include "rma/meeting.hpp"

namespace heddle::rma {
namespace {

class Admission : public p2p::OneRequest {
public:
    Admission(p2p::Engine& engine, core::Request& request, const objects::Window& window,
              AwaitedLock awaited) noexcept
        : OneRequest(engine, request), window_(window), awaited_(awaited) {}

    void describe(char* text, std::size_t bytes) const {
        const std::string target =
            awaited_.target < 0 ? "every target" : "target " + std::to_string(awaited_.target);
        std::snprintf(text, bytes, "(%s, %s, held by %s)", target.c_str(),
                      objects::name_of(window_).c_str(), holder().c_str());
    }

private:
    std::string holder() const {
        if (awaited_.target < 0) return "others";
        if (awaited_.writer == nullptr) return "who has locked all targets";
        const std::int32_t writer = awaited_.writer->load(relaxed) - 1;
        return writer < 0 ? "others" : "rank " + std::to_string(writer);
    }

    const objects::Window& window_;
    const AwaitedLock awaited_;
};

/// While there is no memory.
void make_progress(core::Thread& thread) {
    thread.engine->poll_all(thread);
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
        progress::wait(engine, thread, Admission(engine, *message, window, awaited));
    return p2p::finish(thread, communicator, message);
}

void tell_of_admission(core::Thread& thread, objects::Window& window, std::int32_t rank,
                       std::int32_t tag) {
    while (!tell(thread, *window.communicator, rank, tag)) make_progress(thread);
}

}  // namespace heddle::rma
