// SPDX-License-Identifier: BSD-3-Clause
/// Sending and receiving (MPI 5.0, 3.2 to 3.7 and 3.10).

#include "api/completion.hpp"
#include "api/direct.hpp"
#include "api/entry.hpp"
#include "api/messages.hpp"
#include "p2p/requests/join.hpp"

namespace heddle::api {

int refuse_buffer(Thread& thread, Communicator& communicator, const void* buffer) {
    return objects::fail(thread, &communicator, MPI_ERR_BUFFER,
                         "argument buf: " + no_memory(direct::known_constant(buffer)));
}

Request* null_receive(Thread& thread) {
    Request* request = engine_of(thread).requests().take(thread);
    if (request == nullptr) return nullptr;
    request->operation = core::Operation::receive;
    request->source = MPI_PROC_NULL;
    request->tag = MPI_ANY_TAG;
    request->bytes = 0;
    request->error = 0;
    request->cancelled = false;
    request->any_tag = false;
    request->done.store(true, relaxed);
    return request;
}

namespace {

enum class Mode { standard, nonblocking, synchronous };

/// Starts a send. Dense data take the fast path without a question about layouts.
template <Mode mode>
[[gnu::always_inline]] inline Request* start(Engine& engine, Thread& thread,
                                             Communicator& communicator, const std::byte* data,
                                             p2p::Shape shape, Dest dest, SendTag tag) {
    p2p::Outbound message =
        p2p::outbound(communicator, communicator.context, data, shape, dest.rank, tag.value);
    message.how = mode == Mode::nonblocking ? p2p::Sending::nonblocking : p2p::Sending::standard;
    return mode != Mode::synchronous ? engine.start_send(thread, message)
                                     : engine.sender().start_synchronous(thread, message);
}
template <Mode mode>
[[gnu::cold, gnu::noinline]] Request* start_laid_out(Thread& thread, Communicator& communicator,
                                                     const std::byte* data, p2p::Shape shape,
                                                     Dest dest, SendTag tag) {
    if (shape.bytes != 0 && !can_be_memory_or_null(data)) throw NoBuffer(communicator, data);
    return start<mode>(engine_of(thread), thread, communicator, data, shape, dest, tag);
}

template <Mode mode>
[[gnu::always_inline]] inline int send(Thread& thread, SendBuffer buffer, Count count, Type type,
                                       Dest dest, SendTag tag, Comm comm) {
    if (dest.null()) return MPI_SUCCESS;
    p2p::Shape shape;
    if (const int error = dense_shape_of(thread, *comm, buffer.address, count, type, shape))
        return error;
    Engine& engine = engine_of(thread);
    Request* request = shape.layout == nullptr
        ? start<mode>(engine, thread, *comm, buffer.address, shape.bytes, dest, tag)
        : start_laid_out<mode>(thread, *comm, buffer.address, shape, dest, tag);
    if (request == &engine.requests().completed_send()) [[likely]]
        return MPI_SUCCESS;
    return p2p::finish(thread, *comm, request);
}

template <Mode mode, class Result = Out<MPI_Request>>
[[gnu::always_inline]] inline int isend(Thread& thread, SendBuffer buffer, Count count, Type type,
                                        Dest dest, SendTag tag, Comm comm, Result result) {
    Engine& engine = engine_of(thread);
    if (dest.null()) {
        *result = reinterpret_cast<MPI_Request>(&engine.requests().completed_send());
        return MPI_SUCCESS;
    }
    p2p::Shape shape;
    if (const int error = dense_shape_of(thread, *comm, buffer.address, count, type, shape))
        return error;
    Request* request = shape.layout == nullptr
        ? start<mode>(engine, thread, *comm, buffer.address, shape.bytes, dest, tag)
        : start_laid_out<mode>(thread, *comm, buffer.address, shape, dest, tag);
    if (request == &engine.requests().completed_send()) [[likely]] {
        *result = reinterpret_cast<MPI_Request>(request);
        return MPI_SUCCESS;
    }
    return hand_out(thread, *comm, request, *result);
}

/// Starts a receive with gaps between elements.
[[gnu::cold, gnu::noinline]] Request* start_receive_laid_out(Thread& thread,
                                                             const p2p::Inbound& receive) {
    if (receive.bytes != 0 && !can_be_memory_or_null(receive.data))
        throw NoBuffer(*receive.communicator, receive.data);
    return engine_of(thread).start_receive(thread, receive);
}
[[gnu::always_inline]] inline Request* start_receive(Thread& thread, ReceiveBuffer buffer,
                                                     p2p::Shape shape, Source source,
                                                     ReceiveTag tag, Comm comm) {
    if (shape.layout != nullptr) [[unlikely]]
        return start_receive_laid_out(
            thread,
            p2p::inbound(*comm, comm->context, buffer.address, shape, source.rank, tag.value));
    return engine_of(thread).start_receive(
        thread,
        p2p::inbound(*comm, comm->context, buffer.address, shape.bytes, source.rank, tag.value));
}

template <class Result>
[[gnu::always_inline]] inline int irecv(Thread& thread, ReceiveBuffer buffer, Count count,
                                        Type type, Source source, ReceiveTag tag, Comm comm,
                                        Result result) {
    if (source.null()) return hand_out(thread, *comm, null_receive(thread), *result);
    p2p::Shape shape;
    if (const int error = dense_shape_of(thread, *comm, buffer.address, count, type, shape))
        return error;
    return hand_out(thread, *comm, start_receive(thread, buffer, shape, source, tag, comm),
                    *result);
}

[[gnu::cold, gnu::noinline]] int fail_receive(Thread& thread, Communicator& communicator,
                                              Request& request) {
    const int error = request.error;
    const std::string why =
        error == MPI_ERR_TRUNCATE ? words_of_cut(request) : objects::class_text(error);
    engine_of(thread).requests().free(thread, request);
    return objects::fail(thread, &communicator, error, why);
}

/// Waits for a receive. If there is no memory for other messages, cancels the receive, unless its
/// message is under way.
void wait_for_receive(Thread& thread, Request& request) try {
    p2p::wait_for(engine_of(thread), thread, request);
} catch (const std::bad_alloc&) {
    if (!engine_of(thread).receiver().cancel(thread, request))
        return p2p::complete(thread, request);
    engine_of(thread).requests().free(thread, request);
    throw;
}

/// Waits for a receive, which no handle names, and tells what came.
template <class Status>
[[gnu::always_inline]] inline int finish_receive(Thread& thread, Communicator& communicator,
                                                 Request* request, Status status) {
    using objects::set_status;
    if (request == nullptr) [[unlikely]]
        return objects::fail(thread, &communicator, MPI_ERR_NO_MEM, "no memory for a request");
    Engine& engine = engine_of(thread);
    wait_for_receive(thread, *request);
    set_status(status.place, request->source, request->tag, request->bytes, false);
    const int error = request->error;
    if (error != MPI_SUCCESS) [[unlikely]]
        return fail_receive(thread, communicator, *request);
    engine.requests().free(thread, *request);
    return MPI_SUCCESS;
}

template <class Status>
[[gnu::always_inline]] inline int recv(Thread& thread, ReceiveBuffer buffer, Count count, Type type,
                                       Source source, ReceiveTag tag, Comm comm, Status status) {
    using objects::set_null_status;
    if (source.null()) {
        set_null_status(status.place);
        return MPI_SUCCESS;
    }
    p2p::Shape shape;
    if (const int error = dense_shape_of(thread, *comm, buffer.address, count, type, shape))
        return error;
    return finish_receive(thread, *comm, start_receive(thread, buffer, shape, source, tag, comm),
                          status);
}

/// A send and a receive at once.
struct Exchange {
    const std::byte* out;
    p2p::Shape out_shape;
    Dest dest;
    SendTag out_tag;
    std::byte* in;
    p2p::Shape in_shape;
    Source source;
    ReceiveTag in_tag;
    Communicator& communicator;

    Request* start_receive(Thread& thread) const {
        if (source.null()) return null_receive(thread);
        return p2p::start_receive(thread, communicator, communicator.context, in, in_shape,
                                  source.rank, in_tag.value);
    }
    Request* start_send(Thread& thread) const {
        if (dest.null()) return &engine_of(thread).requests().completed_send();
        return p2p::start_send(thread, communicator, communicator.context, out, out_shape,
                               dest.rank, out_tag.value);
    }
};

int finish(Thread& thread, const Exchange& exchange, Status status) {
    Request* receive = exchange.start_receive(thread);
    Request* send = exchange.start_send(thread);
    const int sent = send == &engine_of(thread).requests().completed_send()
        ? MPI_SUCCESS
        : p2p::finish(thread, exchange.communicator, send);
    const int received = finish_receive(thread, exchange.communicator, receive, status);
    return sent != MPI_SUCCESS ? sent : received;
}

/// Starts both. `kept` is memory that must live until both are complete.
int start(Thread& thread, const Exchange& exchange, std::vector<std::byte> kept,
          MPI_Request& handle) {
    Request* receive = exchange.start_receive(thread);
    Request* send = exchange.start_send(thread);
    if (receive == nullptr || send == nullptr)
        return hand_out(thread, exchange.communicator, nullptr, handle);
    Request* const parts[] = {receive, send};
    return hand_out(thread, exchange.communicator, p2p::join(thread, parts, std::move(kept)),
                    handle);
}

int sendrecv(Thread& thread, SendBuffer out, Count out_count, Type out_type, Dest dest,
             SendTag out_tag, ReceiveBuffer in, Count in_count, Type in_type, Source source,
             ReceiveTag in_tag, Comm comm, Status status) {
    p2p::Shape sent, received;
    if (const int error = shape_of(thread, *comm, out.address, out_count, out_type, sent))
        return error;
    if (const int error = shape_of(thread, *comm, in.address, in_count, in_type, received))
        return error;
    return finish(thread,
                  {out.address, sent, dest, out_tag, in.address, received, source, in_tag, *comm},
                  status);
}

int isendrecv(Thread& thread, SendBuffer out, Count out_count, Type out_type, Dest dest,
              SendTag out_tag, ReceiveBuffer in, Count in_count, Type in_type, Source source,
              ReceiveTag in_tag, Comm comm, Out<MPI_Request> handle) {
    p2p::Shape sent, received;
    if (const int error = shape_of(thread, *comm, out.address, out_count, out_type, sent))
        return error;
    if (const int error = shape_of(thread, *comm, in.address, in_count, in_type, received))
        return error;
    return start(thread,
                 {out.address, sent, dest, out_tag, in.address, received, source, in_tag, *comm},
                 {}, *handle);
}

/// Copies the data to send. The receive is posted first, and may be filled before the send has been
/// read.
std::vector<std::byte> packed_copy(const std::byte* data, const p2p::Shape& shape) {
    std::vector<std::byte> copy(shape.bytes);
    p2p::gather(copy.data(), data, shape.layout, 0, shape.bytes);
    return copy;
}

int sendrecv_replace(Thread& thread, ReceiveBuffer buffer, Count count, Type type, Dest dest,
                     SendTag out_tag, Source source, ReceiveTag in_tag, Comm comm, Status status) {
    p2p::Shape shape;
    if (const int error = shape_of(thread, *comm, buffer.address, count, type, shape)) return error;
    const std::vector<std::byte> copy = packed_copy(buffer.address, shape);
    return finish(
        thread,
        {copy.data(), shape.bytes, dest, out_tag, buffer.address, shape, source, in_tag, *comm},
        status);
}

int isendrecv_replace(Thread& thread, ReceiveBuffer buffer, Count count, Type type, Dest dest,
                      SendTag out_tag, Source source, ReceiveTag in_tag, Comm comm,
                      Out<MPI_Request> handle) {
    p2p::Shape shape;
    if (const int error = shape_of(thread, *comm, buffer.address, count, type, shape)) return error;
    std::vector<std::byte> copy = packed_copy(buffer.address, shape);
    const std::byte* out = copy.data();
    return start(thread,
                 {out, shape.bytes, dest, out_tag, buffer.address, shape, source, in_tag, *comm},
                 std::move(copy), *handle);
}

}  // namespace
}  // namespace heddle::api

using namespace heddle::api;

MPI_ENTRY_C(6, Send, send<Mode::standard>)
MPI_ENTRY_C(6, Ssend, send<Mode::synchronous>)
MPI_ENTRY_C(6, Rsend, send<Mode::standard>)
MPI_ENTRY_C(7, Isend, isend<Mode::nonblocking>)
MPI_ENTRY_C(7, Issend, isend<Mode::synchronous>)
MPI_ENTRY_C(7, Irsend, isend<Mode::nonblocking>)
MPI_ENTRY_C(7, Recv, recv<Status>)
MPI_ENTRY_C(7, Irecv, irecv<Out<MPI_Request>>)
MPI_ENTRY_C(12, Sendrecv, sendrecv)
MPI_ENTRY_C(9, Sendrecv_replace, sendrecv_replace)
MPI_ENTRY_C(12, Isendrecv, isendrecv)
MPI_ENTRY_C(9, Isendrecv_replace, isendrecv_replace)

namespace heddle::api::direct {
namespace {

template <class Abi>
[[gnu::always_inline]] inline int send_here(Thread& thread, SendBuffer<Abi> buffer, Count count,
                                            Type<Abi> type, Dest dest, SendTag tag,
                                            Comm<Abi> comm) {
    return send<Mode::standard>(thread, buffer, count, type, dest, tag, comm);
}
template <class Abi>
[[gnu::always_inline]] inline int recv_here(Thread& thread, ReceiveBuffer<Abi> buffer, Count count,
                                            Type<Abi> type, Source source, ReceiveTag tag,
                                            Comm<Abi> comm, Status<Abi> status) {
    return recv(thread, buffer, count, type, source, tag, comm, status);
}
template <class Abi>
[[gnu::always_inline]] inline int isend_here(Thread& thread, SendBuffer<Abi> buffer, Count count,
                                             Type<Abi> type, Dest dest, SendTag tag, Comm<Abi> comm,
                                             RequestPlace<Abi> request) {
    return isend<Mode::nonblocking>(thread, buffer, count, type, dest, tag, comm, request);
}
template <class Abi>
[[gnu::always_inline]] inline int irecv_here(Thread& thread, ReceiveBuffer<Abi> buffer, Count count,
                                             Type<Abi> type, Source source, ReceiveTag tag,
                                             Comm<Abi> comm, RequestPlace<Abi> request) {
    return irecv(thread, buffer, count, type, source, tag, comm, request);
}

}  // namespace

template <class Abi>
int Calls<Abi>::Send(const void* buffer, int count, Type type, int dest, int tag, Comm comm) {
    return call_by_face<&send_here<Abi>>("MPI_Send", buffer, count, type, dest, tag, comm);
}
template <class Abi>
int Calls<Abi>::Recv(void* buffer, int count, Type type, int source, int tag, Comm comm,
                     Status* status) {
    return call_by_face<&recv_here<Abi>>("MPI_Recv", buffer, count, type, source, tag, comm,
                                         status);
}
template <class Abi>
int Calls<Abi>::Isend(const void* buffer, int count, Type type, int dest, int tag, Comm comm,
                      Request* request) {
    return call_by_face<&isend_here<Abi>>("MPI_Isend", buffer, count, type, dest, tag, comm,
                                          request);
}
template <class Abi>
int Calls<Abi>::Irecv(void* buffer, int count, Type type, int source, int tag, Comm comm,
                      Request* request) {
    return call_by_face<&irecv_here<Abi>>("MPI_Irecv", buffer, count, type, source, tag, comm,
                                          request);
}

#define INSTANCES(Abi)                                                                       \
    template int Calls<Abi>::Send(const void*, int, Abi::Type, int, int, Abi::Comm);         \
    template int Calls<Abi>::Recv(void*, int, Abi::Type, int, int, Abi::Comm, Abi::Status*); \
    template int Calls<Abi>::Isend(const void*, int, Abi::Type, int, int, Abi::Comm,         \
                                   Abi::Request*);                                           \
    template int Calls<Abi>::Irecv(void*, int, Abi::Type, int, int, Abi::Comm, Abi::Request*);
INSTANCES(Integers)
INSTANCES(Addresses)

}  // namespace heddle::api::direct
