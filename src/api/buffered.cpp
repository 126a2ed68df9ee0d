// SPDX-License-Identifier: BSD-3-Clause
/// Buffered sends and the buffers they use (MPI 5.0, 3.6).

#include <limits>

#include "api/entry.hpp"
#include "api/messages.hpp"
#include "api/object_arguments.hpp"
#include "p2p/buffered.hpp"

namespace heddle::api {
namespace {

using Buffer = std::shared_ptr<p2p::BsendBuffer>;

/// The owner of a buffer: a communicator, a session, or else the process.
struct Place {
    Thread& thread;
    Communicator* communicator = nullptr;
    objects::Session* session = nullptr;

    Buffer& buffer() const noexcept {
        if (communicator != nullptr) return communicator->buffer;
        return session != nullptr ? session->buffer : thread.process->buffer;
    }
    Buffer attached() const {
        std::lock_guard guard(thread.process->set_up);
        return buffer();
    }
    int fail(int error_class, const std::string& detail) const {
        return session != nullptr ? objects::fail(thread, *session, error_class, detail)
                                  : objects::fail(thread, communicator, error_class, detail);
    }
    int no_memory() const { return fail(MPI_ERR_NO_MEM, "no memory for a request"); }
};

int attach_to(const Place& place, void* memory, std::int64_t size) {
    if (size < 0)
        return place.fail(MPI_ERR_ARG, "argument size: " + std::to_string(size) + " is negative");
    const bool needed = size != 0 || memory != nullptr;
    if (needed && memory != MPI_BUFFER_AUTOMATIC && !is_memory(memory))
        return place.fail(MPI_ERR_BUFFER, "argument buffer: " + no_memory(memory));
    auto buffer = std::make_shared<p2p::BsendBuffer>(
        memory, memory == MPI_BUFFER_AUTOMATIC ? 0 : static_cast<std::uint64_t>(size));
    {
        std::lock_guard guard(place.thread.process->set_up);
        if (place.buffer() == nullptr) {
            place.buffer() = std::move(buffer);
            return MPI_SUCCESS;
        }
    }
    return place.fail(MPI_ERR_BUFFER, "a buffer is attached already");
}

/// Detaches a buffer. Sleeps until every message has left it.
template <class Size>
int detach_from(const Place& place, void** memory, Size& size) {
    Buffer buffer;
    {
        std::lock_guard guard(place.thread.process->set_up);
        buffer = place.buffer();
        if (buffer != nullptr && buffer->bytes() <= std::numeric_limits<Size>::max())
            place.buffer() = nullptr;
    }
    if (buffer == nullptr) return place.fail(MPI_ERR_BUFFER, "no buffer is attached");
    if (buffer->bytes() > std::numeric_limits<Size>::max())
        return place.fail(MPI_ERR_VALUE_TOO_LARGE,
                          "argument size: the buffer has " + std::to_string(buffer->bytes()) +
                              " bytes, which an int does not hold");
    if (!buffer->flush(place.thread)) return place.no_memory();
    *memory = buffer->memory();
    size = static_cast<Size>(buffer->bytes());
    return MPI_SUCCESS;
}

int flush_of(const Place& place) {
    const Buffer buffer = place.attached();
    return buffer == nullptr || buffer->flush(place.thread) ? MPI_SUCCESS : place.no_memory();
}

int iflush_of(const Place& place, MPI_Request& handle) {
    const Buffer buffer = place.attached();
    Request* request = buffer == nullptr ? &engine_of(place.thread).requests().completed_send()
                                         : buffer->start_flush(place.thread);
    if (request == nullptr) return place.no_memory();
    if (!request->immortal) request->kind.store(core::Kind::request, relaxed);
    handle = reinterpret_cast<MPI_Request>(request);
    return MPI_SUCCESS;
}

// --- calls ---

int buffer_attach(Thread& thread, Raw<void*> memory, Raw<std::int64_t> size) {
    return attach_to({thread}, memory.value, size.value);
}
int comm_attach_buffer(Thread& thread, Comm comm, Raw<void*> memory, Raw<std::int64_t> size) {
    return attach_to({thread, comm.object}, memory.value, size.value);
}
int session_attach_buffer(Thread& thread, Session session, Raw<void*> memory,
                          Raw<std::int64_t> size) {
    return attach_to({thread, nullptr, session.object}, memory.value, size.value);
}

template <class Size>
int buffer_detach(Thread& thread, OutPointer memory, Out<Size> size) {
    return detach_from({thread}, memory.place, *size);
}
template <class Size>
int comm_detach_buffer(Thread& thread, Comm comm, OutPointer memory, Out<Size> size) {
    return detach_from({thread, comm.object}, memory.place, *size);
}
template <class Size>
int session_detach_buffer(Thread& thread, Session session, OutPointer memory, Out<Size> size) {
    return detach_from({thread, nullptr, session.object}, memory.place, *size);
}

int buffer_flush(Thread& thread) { return flush_of({thread}); }
int comm_flush_buffer(Thread& thread, Comm comm) { return flush_of({thread, comm.object}); }
int session_flush_buffer(Thread& thread, Session session) {
    return flush_of({thread, nullptr, session.object});
}
int buffer_iflush(Thread& thread, Out<MPI_Request> request) {
    return iflush_of({thread}, *request);
}
int comm_iflush_buffer(Thread& thread, Comm comm, Out<MPI_Request> request) {
    return iflush_of({thread, comm.object}, *request);
}
int session_iflush_buffer(Thread& thread, Session session, Out<MPI_Request> request) {
    return iflush_of({thread, nullptr, session.object}, *request);
}

int bsend(Thread& thread, SendBuffer buffer, Count count, Type type, Dest dest, SendTag tag,
          Comm comm) {
    if (dest.null()) return MPI_SUCCESS;
    p2p::Shape shape;
    if (const int error = shape_of(thread, *comm, buffer.address, count, type, shape)) return error;
    return send_buffered(
        thread, *comm,
        p2p::outbound(*comm, comm->context, buffer.address, shape, dest.rank, tag.value));
}

/// Hands out a complete request, since the message is in the buffer.
int ibsend(Thread& thread, SendBuffer buffer, Count count, Type type, Dest dest, SendTag tag,
           Comm comm, Out<MPI_Request> request) {
    const int error = bsend(thread, buffer, count, type, dest, tag, comm);
    if (error == MPI_SUCCESS)
        *request = reinterpret_cast<MPI_Request>(&engine_of(thread).requests().completed_send());
    return error;
}

}  // namespace

int send_buffered(Thread& thread, Communicator& communicator, const p2p::Outbound& message) {
    Buffer buffer = Place{thread, &communicator}.attached();
    if (buffer == nullptr && communicator.session != nullptr)
        buffer = Place{thread, nullptr, communicator.session}.attached();
    if (buffer == nullptr) buffer = Place{thread}.attached();
    if (buffer == nullptr)
        return objects::fail(thread, &communicator, MPI_ERR_BUFFER, "no buffer is attached");
    if (buffer->send(thread, message)) return MPI_SUCCESS;
    // Messages may have left the buffer without this process having noticed.
    engine_of(thread).polling().poll_all(thread);
    if (buffer->send(thread, message)) return MPI_SUCCESS;
    return objects::fail(thread, &communicator, MPI_ERR_BUFFER,
                         "a message of " + std::to_string(message.bytes) +
                             " bytes does not fit into what is left of the attached buffer of " +
                             std::to_string(buffer->bytes()) + " bytes");
}

}  // namespace heddle::api

using namespace heddle::api;

MPI_ENTRY_C(2, Buffer_attach, buffer_attach)
MPI_ENTRY(2, Buffer_detach, buffer_detach<int>)
MPI_ENTRY(2, Buffer_detach_c, buffer_detach<MPI_Count>)
MPI_ENTRY_0(Buffer_flush, buffer_flush)
MPI_ENTRY(1, Buffer_iflush, buffer_iflush)
MPI_ENTRY_C(3, Comm_attach_buffer, comm_attach_buffer)
MPI_ENTRY(3, Comm_detach_buffer, comm_detach_buffer<int>)
MPI_ENTRY(3, Comm_detach_buffer_c, comm_detach_buffer<MPI_Count>)
MPI_ENTRY(1, Comm_flush_buffer, comm_flush_buffer)
MPI_ENTRY(2, Comm_iflush_buffer, comm_iflush_buffer)
MPI_ENTRY_C(3, Session_attach_buffer, session_attach_buffer)
MPI_ENTRY(3, Session_detach_buffer, session_detach_buffer<int>)
MPI_ENTRY(3, Session_detach_buffer_c, session_detach_buffer<MPI_Count>)
MPI_ENTRY(1, Session_flush_buffer, session_flush_buffer)
MPI_ENTRY(2, Session_iflush_buffer, session_iflush_buffer)
MPI_ENTRY_C(6, Bsend, bsend)
MPI_ENTRY_C(7, Ibsend, ibsend)
