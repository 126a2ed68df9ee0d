// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/operations.hpp"

#include <chrono>
#include <new>
#include <thread>

#include "objects/errors.hpp"

namespace heddle::p2p {
namespace {

constexpr int most_naps = 5000;  // of a millisecond

}  // namespace

void Shortage::nap(core::Thread& thread) {
    if (++naps_ > most_naps)
        objects::end_job(*thread.process, MPI_ERR_NO_MEM, "no memory for messages that have come");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void complete(core::Thread& thread, core::Request& request) {
    without_shortage(thread, [&] { (void)wait_for(*thread.engine, thread, request); });
}

core::Request* start_send(core::Thread& thread, objects::Communicator& communicator,
                          std::uint32_t context, const void* data, Shape shape, std::int32_t dest,
                          std::int32_t tag) {
    return thread.engine->start_send(thread,
                                     outbound(communicator, context, data, shape, dest, tag));
}

core::Request* start_receive(core::Thread& thread, objects::Communicator& communicator,
                             std::uint32_t context, void* data, Shape shape, std::int32_t source,
                             std::int32_t tag) {
    return thread.engine->start_receive(thread,
                                        inbound(communicator, context, data, shape, source, tag));
}

core::Request* start_receive(core::Thread& thread, objects::Communicator& communicator,
                             std::uint32_t context, void* data, Shape shape, std::int32_t source,
                             std::int32_t tag, Listener& listener) {
    Inbound receive = inbound(communicator, context, data, shape, source, tag);
    receive.waiter = listener.as_waiter();
    return thread.engine->start_receive(thread, receive);
}

int finish(core::Thread& thread, objects::Communicator& communicator, core::Request* request) {
    if (request == nullptr)
        return objects::fail(thread, &communicator, MPI_ERR_NO_MEM, "no memory for a request");
    complete(thread, *request);
    const int error = request->error;
    thread.engine->requests().free(thread, *request);
    if (error == MPI_SUCCESS) return MPI_SUCCESS;
    return objects::fail(thread, &communicator, error, objects::class_text(error));
}

void finish_unheard(core::Thread& thread, core::Request* request) noexcept {
    if (request == nullptr) return;
    complete(thread, *request);
    thread.engine->requests().free(thread, *request);
}

int send(core::Thread& thread, objects::Communicator& communicator, std::uint32_t context,
         const void* data, std::uint64_t bytes, std::int32_t dest, std::int32_t tag) {
    return finish(thread, communicator,
                  start_send(thread, communicator, context, data, bytes, dest, tag));
}

int receive(core::Thread& thread, objects::Communicator& communicator, std::uint32_t context,
            void* data, std::uint64_t bytes, std::int32_t source, std::int32_t tag) {
    return finish(thread, communicator,
                  start_receive(thread, communicator, context, data, bytes, source, tag));
}

int exchange(core::Thread& thread, objects::Communicator& communicator, std::uint32_t context,
             const void* out, std::uint64_t out_bytes, std::int32_t dest, void* in,
             std::uint64_t in_bytes, std::int32_t source, std::int32_t tag) {
    core::Request* receive =
        start_receive(thread, communicator, context, in, in_bytes, source, tag);
    core::Request* send = start_send(thread, communicator, context, out, out_bytes, dest, tag);
    const int sent = finish(thread, communicator, send);
    const int received = finish(thread, communicator, receive);
    return sent != MPI_SUCCESS ? sent : received;
}

}  // namespace heddle::p2p
