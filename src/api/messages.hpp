// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The common part of the calls of the point-to-point chapter: from checked arguments to operations
/// of the engine, and back to handles and statuses.

#include <cstdint>

#include "api/addresses.hpp"
#include "api/arguments.hpp"
#include "core/thread.hpp"
#include "objects/errors.hpp"
#include "objects/status.hpp"
#include "p2p/operations.hpp"

namespace heddle::api {

using core::Request;
using core::Thread;
using p2p::Engine;

inline Engine& engine_of(Thread& thread) noexcept { return *thread.engine; }

/// Fails the call because of a buffer that is no memory.
[[gnu::cold]] int refuse_buffer(Thread& thread, Communicator& communicator, const void* buffer);

/// Finds size and layout of `count` elements. Returns MPI_SUCCESS, or the error that was raised: no
/// buffer, too large. The address of elements with gaps is still to be checked.
[[gnu::always_inline]] inline int dense_shape_of(Thread& thread, Communicator& communicator,
                                                 const void* buffer, Count count, Type type,
                                                 p2p::Shape& shape) {
    std::int64_t bytes = 0;
    if (__builtin_mul_overflow(count.value, type->size, &bytes)) [[unlikely]]
        return objects::fail(thread, &communicator, MPI_ERR_COUNT,
                             "argument count: the message has more than 2^63 bytes");
    shape.bytes = static_cast<std::uint64_t>(bytes);
    shape.layout = type->contiguous ? nullptr : type.object;
    if (can_be_memory(buffer) || bytes == 0 || shape.layout != nullptr) [[likely]]
        return MPI_SUCCESS;
    return refuse_buffer(thread, communicator, buffer);
}
/// Checks the address of elements with gaps. It may be relative to MPI_BOTTOM, which is a null
/// pointer.
inline int check_laid_out(Thread& thread, Communicator& communicator, const void* buffer,
                          const p2p::Shape& shape) {
    if (shape.layout == nullptr || shape.bytes == 0 || can_be_memory_or_null(buffer))
        return MPI_SUCCESS;
    return refuse_buffer(thread, communicator, buffer);
}
/// Does both.
inline int shape_of(Thread& thread, Communicator& communicator, const void* buffer, Count count,
                    Type type, p2p::Shape& shape) {
    if (const int error = dense_shape_of(thread, communicator, buffer, count, type, shape))
        return error;
    return check_laid_out(thread, communicator, buffer, shape);
}

/// Hands a started request to the user.
template <class Handle>
[[gnu::always_inline]] inline int hand_out(Thread& thread, Communicator& communicator,
                                           Request* request, Handle&& handle) {
    if (request == nullptr) [[unlikely]]
        return objects::fail(thread, &communicator, MPI_ERR_NO_MEM, "no memory for a request");
    request->kind.store(core::Kind::request, relaxed);
    request->communicator = &communicator;
    handle = reinterpret_cast<MPI_Request>(request);
    return MPI_SUCCESS;
}

/// Sends buffered: afterwards the message is in the buffer, or already away. Returns MPI_SUCCESS,
/// or the error that was raised.
int send_buffered(Thread& thread, Communicator& communicator, const p2p::Outbound& message);

/// Returns a receive from MPI_PROC_NULL, which is already complete.
Request* null_receive(Thread& thread);

}  // namespace heddle::api
