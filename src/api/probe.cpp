// SPDX-License-Identifier: BSD-3-Clause
/// Probing, and receiving what a probe has found (MPI 5.0, 3.8).

#include "api/completion.hpp"
#include "api/entry.hpp"
#include "api/messages.hpp"

namespace heddle::api {
namespace {

match::Pattern pattern_of(const Comm& comm, Source source, ReceiveTag tag) noexcept {
    return {comm->context, source.rank, tag.value};
}

bool in_order(const Comm& comm) noexcept { return !comm->hints.allow_overtaking; }

int probe(Thread& thread, Source source, ReceiveTag tag, Comm comm, Status status) {
    if (source.null()) {
        objects::set_null_status(status.place);
        return MPI_SUCCESS;
    }
    p2p::Probed probed(engine_of(thread), thread, pattern_of(comm, source, tag), in_order(comm),
                       false);
    progress::wait(engine_of(thread).polling(), thread, probed);
    objects::set_status(status.place, probed.outcome);
    return MPI_SUCCESS;
}

int iprobe(Thread& thread, Source source, ReceiveTag tag, Comm comm, Out<int> flag, Status status) {
    if (source.null()) {
        *flag = 1;
        objects::set_null_status(status.place);
        return MPI_SUCCESS;
    }
    core::Outcome found{};
    *flag = engine_of(thread).probes().find(thread, pattern_of(comm, source, tag), in_order(comm),
                                            found);
    if (*flag)
        objects::set_status(status.place, found);
    else
        make_progress(thread, pattern_of(comm, source, tag));
    return MPI_SUCCESS;
}

void hand_out_message(match::Message& message, Comm& comm, MPI_Message& handle) {
    message.communicator = comm.object;
    handle = reinterpret_cast<MPI_Message>(&message);
}

int mprobe(Thread& thread, Source source, ReceiveTag tag, Comm comm, Out<MPI_Message> message,
           Status status) {
    if (source.null()) {
        *message = MPI_MESSAGE_NO_PROC;
        objects::set_null_status(status.place);
        return MPI_SUCCESS;
    }
    p2p::Probed probed(engine_of(thread), thread, pattern_of(comm, source, tag), in_order(comm),
                       true);
    progress::wait(engine_of(thread).polling(), thread, probed);
    hand_out_message(*probed.message, comm, *message);
    objects::set_status(status.place, probed.outcome);
    return MPI_SUCCESS;
}

int improbe(Thread& thread, Source source, ReceiveTag tag, Comm comm, Out<int> flag,
            Out<MPI_Message> message, Status status) {
    *flag = 1;
    if (source.null()) {
        *message = MPI_MESSAGE_NO_PROC;
        objects::set_null_status(status.place);
        return MPI_SUCCESS;
    }
    core::Outcome outcome{};
    match::Message* found = engine_of(thread).probes().take(thread, pattern_of(comm, source, tag),
                                                            in_order(comm), outcome);
    *flag = found != nullptr;
    if (found == nullptr) {
        *message = MPI_MESSAGE_NULL;
        make_progress(thread, pattern_of(comm, source, tag));
        return MPI_SUCCESS;
    }
    hand_out_message(*found, comm, *message);
    objects::set_status(status.place, outcome);
    return MPI_SUCCESS;
}

/// Starts the receive of a message that was probed. `communicator` becomes its communicator, if it
/// still exists.
int start_matched(Thread& thread, ReceiveBuffer buffer, Count count, Type type, MPI_Message& handle,
                  Communicator*& communicator, Request*& request) {
    communicator = nullptr;
    request = nullptr;
    if (handle == MPI_MESSAGE_NO_PROC) {
        request = null_receive(thread);
    } else {
        auto* message = reinterpret_cast<match::Message*>(handle);
        if (handle == MPI_MESSAGE_NULL || !engine_of(thread).messages().contains(message) ||
            message->kind.load(relaxed) != core::Kind::message)
            return objects::fail(
                thread, nullptr, MPI_ERR_REQUEST,
                handle == MPI_MESSAGE_NULL
                    ? "argument message: MPI_MESSAGE_NULL"
                    : "argument message: no message, or one that has been received");
        auto* where = static_cast<Communicator*>(message->communicator);
        if (where->is(core::Kind::communicator)) communicator = where;
        p2p::Shape shape;
        if (const int error =
                shape_of(thread,
                         communicator != nullptr ? *communicator
                                                 : objects::raised_without_object(*thread.process),
                         buffer.address, count, type, shape))
            return error;
        request = engine_of(thread).receiver().receive_matched(
            thread, *message, {{}, false, buffer.address, shape.bytes, communicator, shape.layout});
    }
    if (request == nullptr)
        return objects::fail(thread, communicator, MPI_ERR_NO_MEM, "no memory for a request");
    handle = MPI_MESSAGE_NULL;
    request->communicator = communicator;
    request->kind.store(core::Kind::request, relaxed);
    return MPI_SUCCESS;
}

int imrecv(Thread& thread, ReceiveBuffer buffer, Count count, Type type, InOut<MPI_Message> message,
           Out<MPI_Request> handle) {
    Communicator* communicator = nullptr;
    Request* request = nullptr;
    if (const int error =
            start_matched(thread, buffer, count, type, *message, communicator, request))
        return error;
    *handle = reinterpret_cast<MPI_Request>(request);
    return MPI_SUCCESS;
}

int mrecv(Thread& thread, ReceiveBuffer buffer, Count count, Type type, InOut<MPI_Message> message,
          Status status) {
    Communicator* communicator = nullptr;
    Request* request = nullptr;
    if (const int error =
            start_matched(thread, buffer, count, type, *message, communicator, request))
        return error;
    p2p::wait_for(engine_of(thread), thread, *request);
    auto handle = reinterpret_cast<MPI_Request>(request);
    return complete(thread, handle, *request, status.place);
}

}  // namespace
}  // namespace heddle::api

using namespace heddle::api;

MPI_ENTRY(4, Probe, probe)
MPI_ENTRY(5, Iprobe, iprobe)
MPI_ENTRY(5, Mprobe, mprobe)
MPI_ENTRY(6, Improbe, improbe)
MPI_ENTRY_C(5, Mrecv, mrecv)
MPI_ENTRY_C(5, Imrecv, imrecv)
