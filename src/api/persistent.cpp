// SPDX-License-Identifier: BSD-3-Clause
/// Persistent requests (MPI 5.0, 3.9).
///
/// The request keeps the call's arguments: buffer, capacity (bytes), source (the other rank), tag,
/// context, and as `order` the mode of a send. Each start makes an inner request like any other
/// call. The request holds its communicator, which may be freed while the request is still started.
/// Requests of collectives keep a schedule (coll/execution.hpp). Those of partitioned messages keep
/// both ends' terms (partitioned.cpp).

#include "api/completion.hpp"
#include "api/entry.hpp"
#include "api/messages.hpp"
#include "core/request_type.hpp"

namespace heddle::api {
namespace {

enum class Mode : std::uint64_t { standard, synchronous, buffered };

int make_persistent(Thread& thread, Communicator& communicator, core::Operation operation,
                    Mode mode, std::byte* data, p2p::Shape shape, std::int32_t peer,
                    std::int32_t tag, MPI_Request& handle) {
    Request* request = engine_of(thread).requests().take(thread);
    if (request == nullptr)
        return objects::fail(thread, &communicator, MPI_ERR_NO_MEM, "no memory for a request");
    communicator.retain();
    request->operation = operation;
    request->order = static_cast<std::uint64_t>(mode);
    request->buffer = data;
    request->capacity = shape.bytes;
    p2p::keep_layout(*request, shape.layout);
    request->source = peer;
    request->tag = tag;
    request->context = communicator.context;
    request->inner = nullptr;
    request->extra = nullptr;
    request->error = MPI_SUCCESS;
    request->any_tag = false;
    request->cancelled = false;
    return hand_out(thread, communicator, request, handle);
}

template <Mode mode>
int send_init(Thread& thread, SendBuffer buffer, Count count, Type type, Dest dest, SendTag tag,
              Comm comm, Out<MPI_Request> result) {
    p2p::Shape shape;
    if (!dest.null())
        if (const int error = shape_of(thread, *comm, buffer.address, count, type, shape))
            return error;
    return make_persistent(thread, *comm, core::Operation::persistent_send, mode,
                           const_cast<std::byte*>(buffer.address),  // only read
                           shape, dest.rank, tag.value, *result);
}

int recv_init(Thread& thread, ReceiveBuffer buffer, Count count, Type type, Source source,
              ReceiveTag tag, Comm comm, Out<MPI_Request> result) {
    p2p::Shape shape;
    if (!source.null())
        if (const int error = shape_of(thread, *comm, buffer.address, count, type, shape))
            return error;
    return make_persistent(thread, *comm, core::Operation::persistent_receive, Mode::standard,
                           buffer.address, shape, source.rank, tag.value, *result);
}

p2p::Shape shape_of_request(const Request& request) noexcept {
    return {request.capacity, p2p::layout_of(request)};
}

int start_send(Thread& thread, Request& request) {
    Engine& engine = engine_of(thread);
    Communicator& communicator = *request.communicator;
    if (request.source == MPI_PROC_NULL) {
        request.inner = &engine.requests().completed_send();
        return MPI_SUCCESS;
    }
    const p2p::Outbound message =
        p2p::outbound(communicator, request.context, request.buffer, shape_of_request(request),
                      request.source, request.tag);
    switch (static_cast<Mode>(request.order)) {
        case Mode::standard: request.inner = engine.start_send(thread, message); break;
        case Mode::synchronous:
            request.inner = engine.sender().start_synchronous(thread, message);
            break;
        case Mode::buffered:
            if (const int error = send_buffered(thread, communicator, message)) return error;
            request.inner = &engine.requests().completed_send();
    }
    return MPI_SUCCESS;
}

int start_again(Thread& thread, Request& request) {
    request.inner = request.source == MPI_PROC_NULL
        ? null_receive(thread)
        : p2p::start_receive(thread, *request.communicator, request.context, request.buffer,
                             shape_of_request(request), request.source, request.tag);
    return MPI_SUCCESS;
}

int let_go_of_message(Thread& thread, Request& request) {
    Engine& engine = engine_of(thread);
    if (request.inner != nullptr) engine.endings().free_when_done(thread, *request.inner);
    objects::drop(*thread.process, *request.communicator);
    engine.requests().free(thread, request);
    return MPI_SUCCESS;
}

int start_one(Thread& thread, MPI_Request handle) {
    Request* request = nullptr;
    if (const int error = find_request(thread, handle, request)) return error;
    if (request == nullptr)
        return objects::fail(thread, nullptr, MPI_ERR_REQUEST,
                             "argument request: MPI_REQUEST_NULL");
    if (!is_persistent(*request))
        return objects::fail(thread, nullptr, MPI_ERR_REQUEST,
                             "argument request: not a persistent request");
    Communicator& communicator = *request->communicator;
    if (request->inner != nullptr)
        return objects::fail(thread, &communicator, MPI_ERR_REQUEST,
                             "argument request: started before and not completed yet");
    if (const int error = core::type_of(*request).start(thread, *request)) return error;
    if (request->inner == nullptr)
        return objects::fail(thread, &communicator, MPI_ERR_NO_MEM, "no memory for a request");
    return MPI_SUCCESS;
}

int start_persistent(Thread& thread, InOut<MPI_Request> request) {
    return start_one(thread, *request);
}

int startall(Thread& thread, Count count, Array<MPI_Request> requests) {
    if (requests.value == nullptr && count.value != 0)
        return objects::fail(thread, nullptr, MPI_ERR_ARG,
                             "argument array_of_requests: a null pointer");
    for (std::int64_t i = 0; i < count.value; ++i)
        if (const int error = start_one(thread, requests.value[i])) return error;
    return MPI_SUCCESS;
}

constexpr core::RequestType send_type{.let_go = let_go_of_message, .start = start_send};
constexpr core::RequestType receive_type{.let_go = let_go_of_message, .start = start_again};
const core::TypeOfRequests sends(core::Operation::persistent_send, send_type);
const core::TypeOfRequests receives(core::Operation::persistent_receive, receive_type);

}  // namespace

}  // namespace heddle::api

using namespace heddle::api;

MPI_ENTRY_C(7, Send_init, send_init<Mode::standard>)
MPI_ENTRY_C(7, Ssend_init, send_init<Mode::synchronous>)
MPI_ENTRY_C(7, Rsend_init, send_init<Mode::standard>)
MPI_ENTRY_C(7, Bsend_init, send_init<Mode::buffered>)
MPI_ENTRY_C(7, Recv_init, recv_init)
MPI_ENTRY(1, Start, start_persistent)
MPI_ENTRY(2, Startall, startall)
