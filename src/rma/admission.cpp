// SPDX-License-Identifier: BSD-3-Clause
#include "rma/admission.hpp"

#include <cstdio>
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
              std::int32_t target, const std::atomic<std::int32_t>& writer) noexcept
        : OneRequest(engine, request), window_(window), target_(target), writer_(writer) {}

    void describe(char* text, std::size_t bytes) const {
        const std::int32_t writer = writer_.load(relaxed) - 1;
        const std::string holder = writer < 0      ? "others"
            : writer == window_.communicator->rank ? "who has locked all targets"
                                                   : "rank " + std::to_string(writer);
        std::snprintf(text, bytes, "(target %d, %s, held by %s)", target_,
                      objects::name_of(window_).c_str(), holder.c_str());
    }

private:
    const objects::Window& window_;
    const std::int32_t target_;
    const std::atomic<std::int32_t>& writer_;
};

}  // namespace

int hear_of_admission(core::Thread& thread, objects::Window& window, std::int32_t target,
                      const std::atomic<std::int32_t>& writer) {
    objects::Communicator& communicator = *window.communicator;
    core::Request* message =
        p2p::start_receive(thread, communicator, context_of(communicator), nullptr, 0,
                           MPI_ANY_SOURCE, admitted_message + target);
    if (message != nullptr && !message->completed()) {
        p2p::Engine& engine = *thread.engine;
        progress::wait(engine, thread, Admission(engine, *message, window, target, writer));
    }
    return p2p::finish(thread, communicator, message);
}

}  // namespace heddle::rma
