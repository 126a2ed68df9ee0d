// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// MPI's point-to-point calls in terms of bytes, and what the rest of the library sends itself.
///
/// Errors         functions that answer int answer an MPI error code that the error handler in force
///                has already seen (objects/errors.hpp).

#include <cstdint>
#include <new>

#include "core/thread.hpp"
#include "objects/communicator.hpp"
#include "objects/process.hpp"
#include "p2p/engine.hpp"
#include "p2p/listener.hpp"
#include "p2p/waiting.hpp"

namespace heddle::p2p {

/// A message of `bytes` to `dest` (a rank of the communicator, not MPI_PROC_NULL).
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
// (communicator.context + 1 for collectives). They answer MPI_SUCCESS or an error that was raised.

int send(core::Thread& thread, objects::Communicator& communicator, std::uint32_t context,
         const void* data, std::uint64_t bytes, std::int32_t dest, std::int32_t tag);
int receive(core::Thread& thread, objects::Communicator& communicator, std::uint32_t context,
            void* data, std::uint64_t bytes, std::int32_t source, std::int32_t tag);
/// Both at once.
int exchange(core::Thread& thread, objects::Communicator& communicator, std::uint32_t context,
             const void* out, std::uint64_t out_bytes, std::int32_t dest, void* in,
             std::uint64_t in_bytes, std::int32_t source, std::int32_t tag);

// The same in two steps: start, then finish() each.

core::Request* start_send(core::Thread& thread, objects::Communicator& communicator,
                          std::uint32_t context, const void* data, Shape shape, std::int32_t dest,
                          std::int32_t tag);
core::Request* start_receive(core::Thread& thread, objects::Communicator& communicator,
                             std::uint32_t context, void* data, Shape shape, std::int32_t source,
                             std::int32_t tag);
/// The same for a receive that only `listener` hears of, from its completion (p2p/listener.hpp).
core::Request* start_receive(core::Thread& thread, objects::Communicator& communicator,
                             std::uint32_t context, void* data, Shape shape, std::int32_t source,
                             std::int32_t tag, Listener& listener);
/// While there is no memory for messages that have come, which stay where they are.
class Shortage {
public:
    /// Ends the job when it has lasted for seconds: others wait for this process.
    void nap(core::Thread& thread);

private:
    int naps_ = 0;
};
/// Calls wait() until it throws std::bad_alloc no more.
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
/// The same, and raises nothing. nullptr is no request.
void finish_unheard(core::Thread& thread, core::Request* request) noexcept;

}  // namespace heddle::p2p
