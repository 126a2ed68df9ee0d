// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Waiting for a message of another process of a window. A report about a job that hangs names the
/// wait with the window.

#include <cstdint>

#include "objects/process.hpp"
#include "objects/window.hpp"
#include "p2p/operations.hpp"
#include "p2p/waiting.hpp"

namespace heddle::rma {

using node::AwaitedKind;

/// Writes down a window, and the process of this rank in it, if it is a rank.
void tell_window(core::Thread& thread, const objects::Window& window, std::int32_t rank,
                 node::AwaitedEvent& event) noexcept;

class NamedWait : public p2p::OneRequest {
public:
    NamedWait(p2p::Engine& engine, core::Request& request, const objects::Window& window,
              std::int32_t rank, AwaitedKind awaited) noexcept
        : OneRequest(engine, request), window_(window), rank_(rank), awaited_(awaited) {}

    void tell(core::Thread& thread, node::WaitsFor& what) const noexcept {
        node::AwaitedEvent& event = *what.add();
        event.kind = awaited_;
        tell_window(thread, window_, rank_, event);
    }

private:
    const objects::Window& window_;
    const std::int32_t rank_;
    const AwaitedKind awaited_;
};

/// Waits for the request and frees it.
inline int finish(core::Thread& thread, objects::Window& window, core::Request* request,
                  std::int32_t rank, AwaitedKind awaited) {
    if (request != nullptr && !request->completed())
        progress::wait(thread.engine->polling(), thread,
                       NamedWait(*thread.engine, *request, window, rank, awaited));
    return p2p::finish(thread, *window.communicator, request);
}

}  // namespace heddle::rma
