// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// MPI's point-to-point calls in terms of bytes, and messages that the library sends itself.
///
/// Errors         functions that return int return an MPI error code. The error handler in force
///                has already seen it (objects/errors.hpp).

#include <cstdint>
#include <new>

#include "core/thread.hpp"
#include "objects/communicator.hpp"
#include "objects/process.hpp"
#include "p2p/engine.hpp"
#include "p2p/requests/listener.hpp"
#include "p2p/waiting.hpp"

namespace heddle::p2p {

/// Returns a message of `bytes` to `dest` (a rank of the communicator, not MPI_PROC_NULL).
inline Outbound outbound(objects::Communicator& communicator, std::uint32_t context,
                         const void* data, Shape shape, std::int32_t dest,
                         std::int32_t tag) noexcept {
    return {{context, communicator.rank, tag},
            communicator.processes[dest],
            static_cast<const std::byte*>(data),
            shape.bytes,
            shape.layout,
            0,
            &communicator};
}

inline Inbound inbound(objects::Communicator& communicator, std::uint32_t context, void* data,
                       Shape shape, std::int32_t source, std::int32_t tag) noexcept {
    return {{context, source, tag},
            communicator.hints.allow_overtaking,
            static_cast<std::byte*>(data),
            shape.bytes,
            &communicator,
            shape.layout};
}

// For collectives and set-up: blocking transfers of bytes with a context of the caller's choice
// (communicator.context + 1 for collectives). They return MPI_SUCCESS or an error that was raised.

int send(core::Thread& thread, objects::Communicator& communicator, std::uint32_t context,
         const void* data, std::uint64_t bytes, std::int32_t dest, std::int32_t tag);
int receive(core::Thread& thread, objects::Communicator& communicator, std::uint32_t context,
            void* data, std::uint64_t bytes, std::int32_t source, std::int32_t tag);
/// Sends and receives at once.
int exchange(core::Thread& thread, objects::Communicator& communicator, std::uint32_t context,
             const void* out, std::uint64_t out_bytes, std::int32_t dest, void* in,
             std::uint64_t in_bytes, std::int32_t source, std::int32_t tag);

// The same in two steps: start both, then finish() each.

core::Request* start_send(core::Thread& thread, objects::Communicator& communicator,
                          std::uint32_t context, const void* data, Shape shape, std::int32_t dest,
                          std::int32_t tag);
core::Request* start_receive(core::Thread& thread, objects::Communicator& communicator,
                             std::uint32_t context, void* data, Shape shape, std::int32_t source,
                             std::int32_t tag);
/// Does the same for a receive that only `listener` hears of, when it completes
/// (p2p/requests/listener.hpp).
core::Request* start_receive(core::Thread& thread, objects::Communicator& communicator,
                             std::uint32_t context, void* data, Shape shape, std::int32_t source,
                             std::int32_t tag, Listener& listener);
/// A time without memory for messages that have come. The messages stay where they are.
class Shortage {
public:
    /// Naps. Ends the job if the shortage has lasted for seconds: others wait for this process.
    void nap(core::Thread& thread);

private:
    int naps_ = 0;
};
/// Calls wait() until it no longer throws std::bad_alloc.
template <class Wait>
void without_shortage(core::Thread& thread, Wait wait) {
    for (Shortage shortage;; shortage.nap(thread)) try {
            return wait();
        } catch (const std::bad_alloc&) {}
}
/// Waits for a request that cannot be let go.
void complete(core::Thread& thread, core::Request& request);
/// Waits likewise for the request and frees it.
int finish(core::Thread& thread, objects::Communicator& communicator, core::Request* request);
/// Does the same, and raises nothing. nullptr is no request.
void finish_unheard(core::Thread& thread, core::Request* request) noexcept;

}  // namespace heddle::p2p
