// SPDX-License-Identifier: BSD-3-Clause
/// Sending and receiving (MPI 5.0, 3.2 to 3.7 and 3.10).

#include "api/entry.hpp"
#include "api/messages.hpp"
#include "p2p/join.hpp"

namespace heddle::api {

Request* null_receive(Thread& thread) {
    Request* request = engine_of(thread).take_request(thread);
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

enum class Mode { standard, synchronous };

template <Mode mode>
[[gnu::always_inline]] inline int send(Thread& thread, SendBuffer buffer, Count count, Type type, Dest dest, SendTag tag, Comm comm) {
    if (dest.null()) return MPI_SUCCESS;
    std::uint64_t bytes = 0;
    if (const int error = size_of(thread, *comm, buffer.address, count, type, bytes)) return error;
    Engine& engine = engine_of(thread);
    const p2p::Outbound message =
        p2p::outbound(*comm, comm->context, buffer.address, bytes, dest.rank, tag.value);
    Request* request = mode == Mode::standard ? engine.start_send(thread, message)
                                              : engine.start_synchronous_send(thread, message);
    if (request == &engine.completed_send()) [[likely]] return MPI_SUCCESS;
    return p2p::finish(thread, *comm, request);
}

template <Mode mode>
[[gnu::always_inline]] inline int isend(Thread& thread, SendBuffer buffer, Count count, Type type, Dest dest, SendTag tag, Comm comm,
          Out<MPI_Request> result) {
    Engine& engine = engine_of(thread);
    std::uint64_t bytes = 0;
    if (dest.null()) {
        *result = reinterpret_cast<MPI_Request>(&engine.completed_send());
        return MPI_SUCCESS;
    }
    if (const int error = size_of(thread, *comm, buffer.address, count, type, bytes)) return error;
    const p2p::Outbound message =
        p2p::outbound(*comm, comm->context, buffer.address, bytes, dest.rank, tag.value);
    Request* request = mode == Mode::standard ? engine.start_send(thread, message)
                                              : engine.start_synchronous_send(thread, message);
    if (request == &engine.completed_send()) [[likely]] {
        *result = reinterpret_cast<MPI_Request>(request);
        return MPI_SUCCESS;
    }
    return hand_out(thread, *comm, request, *result);
}

[[gnu::always_inline]] inline int irecv(Thread& thread, ReceiveBuffer buffer, Count count, Type type, Source source, ReceiveTag tag,
          Comm comm, Out<MPI_Request> result) {
    if (source.null()) return hand_out(thread, *comm, null_receive(thread), *result);
    std::uint64_t bytes = 0;
    if (const int error = size_of(thread, *comm, buffer.address, count, type, bytes)) return error;
    const p2p::Inbound receive =
        p2p::inbound(*comm, comm->context, buffer.address, bytes, source.rank, tag.value);
    return hand_out(thread, *comm, engine_of(thread).start_receive(thread, receive), *result);
}

/// Waits for a receive, which no handle names, and says what came.
int finish_receive(Thread& thread, Communicator& communicator, Request* request, Status status) {
    if (request == nullptr) [[unlikely]]
        return objects::fail(thread, &communicator, MPI_ERR_NO_MEM, "no memory for a request");
    Engine& engine = engine_of(thread);
    p2p::wait_for(engine, thread, *request);
    objects::set_status(status.place, request->source, request->tag, request->bytes, false);
    const int error = request->error;
    const std::uint64_t room = request->capacity;
    engine.free_request(thread, *request);
    if (error == MPI_SUCCESS) [[likely]] return MPI_SUCCESS;
    return objects::fail(thread, &communicator, error,
                         "the message is longer than the " + std::to_string(room) +
                             " bytes of the receive; what fits was delivered");
}

int recv(Thread& thread, ReceiveBuffer buffer, Count count, Type type, Source source, ReceiveTag tag,
         Comm comm, Status status) {
    if (source.null()) {
        objects::set_null_status(status.place);
        return MPI_SUCCESS;
    }
    std::uint64_t bytes = 0;
    if (const int error = size_of(thread, *comm, buffer.address, count, type, bytes)) return error;
    Request* request = engine_of(thread).start_receive(
        thread, p2p::inbound(*comm, comm->context, buffer.address, bytes, source.rank, tag.value));
    return finish_receive(thread, *comm, request, status);
}

int sendrecv(Thread& thread, SendBuffer out, Count out_count, Type out_type, Dest dest, SendTag out_tag,
             ReceiveBuffer in, Count in_count, Type in_type, Source source, ReceiveTag in_tag, Comm comm,
             Status status) {
    std::uint64_t bytes = 0;
    if (const int error = size_of(thread, *comm, in.address, in_count, in_type, bytes)) return error;
    Request* receive = source.null() ? null_receive(thread)
                                     : p2p::start_receive(thread, *comm, comm->context, in.address,
                                                          bytes, source.rank, in_tag.value);
    const int sent = send<Mode::standard>(thread, out, out_count, out_type, dest, out_tag, comm);
    const int received = finish_receive(thread, *comm, receive, status);
    return sent != MPI_SUCCESS ? sent : received;
}

int sendrecv_replace(Thread& thread, ReceiveBuffer buffer, Count count, Type type, Dest dest,
                     SendTag out_tag, Source source, ReceiveTag in_tag, Comm comm, Status status) {
    std::uint64_t bytes = 0;
    if (const int error = size_of(thread, *comm, buffer.address, count, type, bytes)) return error;
    const std::vector<std::byte> copy(buffer.address, buffer.address + bytes);
    return sendrecv(thread, SendBuffer(*thread.process, copy.data()), count, type, dest, out_tag, buffer,
                    count, type, source, in_tag, comm, status);
}

int isendrecv_kept(Thread& thread, const std::byte* out, std::uint64_t out_bytes, Dest dest,
                   SendTag out_tag, std::byte* in, std::uint64_t in_bytes, Source source,
                   ReceiveTag in_tag, Comm comm, std::vector<std::byte> kept, MPI_Request& handle) {
    Request* receive = source.null()
                           ? null_receive(thread)
                           : p2p::start_receive(thread, *comm, comm->context, in, in_bytes, source.rank,
                                                in_tag.value);
    Request* send = dest.null() ? &engine_of(thread).completed_send()
                                : p2p::start_send(thread, *comm, comm->context, out, out_bytes, dest.rank,
                                                  out_tag.value);
    if (receive == nullptr || send == nullptr) return hand_out(thread, *comm, nullptr, handle);
    Request* const parts[] = {receive, send};
    return hand_out(thread, *comm, p2p::join(thread, parts, std::move(kept)), handle);
}

int isendrecv(Thread& thread, SendBuffer out, Count out_count, Type out_type, Dest dest, SendTag out_tag,
              ReceiveBuffer in, Count in_count, Type in_type, Source source, ReceiveTag in_tag, Comm comm,
              Out<MPI_Request> handle) {
    std::uint64_t out_bytes = 0;
    std::uint64_t in_bytes = 0;
    if (const int error = size_of(thread, *comm, out.address, out_count, out_type, out_bytes)) return error;
    if (const int error = size_of(thread, *comm, in.address, in_count, in_type, in_bytes)) return error;
    return isendrecv_kept(thread, out.address, out_bytes, dest, out_tag, in.address, in_bytes, source,
                          in_tag, comm, {}, *handle);
}

/// The receive is posted first, and may be filled before the send has been read: hence a copy.
int isendrecv_replace(Thread& thread, ReceiveBuffer buffer, Count count, Type type, Dest dest,
                      SendTag out_tag, Source source, ReceiveTag in_tag, Comm comm,
                      Out<MPI_Request> handle) {
    std::uint64_t bytes = 0;
    if (const int error = size_of(thread, *comm, buffer.address, count, type, bytes)) return error;
    std::vector<std::byte> copy(buffer.address, buffer.address + bytes);
    const std::byte* out = copy.data();
    return isendrecv_kept(thread, out, bytes, dest, out_tag, buffer.address, bytes, source, in_tag, comm,
                          std::move(copy), *handle);
}

}  // namespace
}  // namespace heddle::api

using namespace heddle::api;

MPI_ENTRY_C(6, Send, send<Mode::standard>)
MPI_ENTRY_C(6, Ssend, send<Mode::synchronous>)
MPI_ENTRY_C(6, Rsend, send<Mode::standard>)
MPI_ENTRY_C(7, Isend, isend<Mode::standard>)
MPI_ENTRY_C(7, Issend, isend<Mode::synchronous>)
MPI_ENTRY_C(7, Irsend, isend<Mode::standard>)
MPI_ENTRY_C(7, Recv, recv)
MPI_ENTRY_C(7, Irecv, irecv)
MPI_ENTRY_C(12, Sendrecv, sendrecv)
MPI_ENTRY_C(9, Sendrecv_replace, sendrecv_replace)
MPI_ENTRY_C(12, Isendrecv, isendrecv)
MPI_ENTRY_C(9, Isendrecv_replace, isendrecv_replace)
