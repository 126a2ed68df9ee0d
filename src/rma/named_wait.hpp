// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Waiting for a message of another process of a window, which a report of `mpiexec --timeout` names with the window.

#include <cstdint>
#include <cstdio>

#include "objects/errors.hpp"
#include "objects/window.hpp"
#include "p2p/operations.hpp"
#include "p2p/waiting.hpp"

namespace heddle::rma {

/// What is waited for: "target 1, cells, for its MPI_Win_post".
struct Awaited {
    const char* role;  ///< of the other process
    const char* what;
};

class NamedWait : public p2p::OneRequest {
public:
    NamedWait(p2p::Engine& engine, core::Request& request, const objects::Window& window,
              std::int32_t rank, Awaited awaited) noexcept
        : OneRequest(engine, request), window_(window), rank_(rank), awaited_(awaited) {}

    void describe(char* text, std::size_t bytes) const {
        std::snprintf(text, bytes, "(%s %d, %s, for %s)", awaited_.role, rank_,
                      objects::name_of(window_).c_str(), awaited_.what);
    }

private:
    const objects::Window& window_;
    const std::int32_t rank_;
    const Awaited awaited_;
};

/// Waits for the request and frees it.
inline int finish(core::Thread& thread, objects::Window& window, core::Request* request,
                  std::int32_t rank, Awaited awaited) {
    if (request != nullptr && !request->completed())
        progress::wait(*thread.engine, thread,
                       NamedWait(*thread.engine, *request, window, rank, awaited));
    return p2p::finish(thread, *window.communicator, request);
}

}  // namespace heddle::rma
