// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/requests/message_requests.hpp"

#include "core/causality.hpp"
#include "objects/communicator.hpp"
#include "objects/errors.hpp"
#include "objects/process.hpp"
#include "objects/status.hpp"
#include "p2p/engine.hpp"
#include "p2p/report/tell.hpp"

namespace heddle::p2p {
namespace {

// --- sends ---

int look_at_send(const core::Request& send, MPI_Status* status) {
    objects::set_empty_status(status);
    if (send.cancelled && objects::is_wanted(status)) objects::set_cancelled(*status, true);
    return send.error;
}

int cancel_send(core::Thread& thread, core::Request& send) {
    thread.engine->sender().cancel(thread, send);
    return MPI_SUCCESS;
}

void tell_of_send(core::Thread& thread, const core::Request& send,
                  node::AwaitedEvent& event) noexcept {
    event.kind = node::AwaitedKind::send;
    event.to_self = thread.engine->base().is_self(send.peer);
    event.no_room = thread.engine->base().is_under_pressure(send.peer);
    event.tag = send.tag;
    event.bytes = send.capacity;
    tell_context(thread, send.context, event, send.peer);
}

bool was_matched_elsewhere(const core::Request& send) noexcept {
    return send.synchronous && !send.cancelled;
}

bool still_sends(const core::Request& send) noexcept { return !send.completed(); }

const objects::Session* session_of_send(const core::Request& send) noexcept {
    return static_cast<const objects::Session*>(send.extra);
}

// --- receives ---

int look_at_receive(const core::Request& receive, MPI_Status* status) {
    set_status_of_receive(status, receive);
    return receive.error;
}

int cancel_receive(core::Thread& thread, core::Request& receive) {
    if (!receive.completed()) thread.engine->receiver().cancel(thread, receive);
    return MPI_SUCCESS;
}

void tell_of_receive(core::Thread& thread, const core::Request& receive,
                     node::AwaitedEvent& event) noexcept {
    event.kind = node::AwaitedKind::receive;
    tell_pattern(thread, thread.engine->receiver().pattern_of(receive), event);
}

bool came_from_elsewhere(const core::Request& receive) noexcept {
    return !receive.cancelled && !objects::attached_thread()->engine->base().is_self(receive.peer);
}

constexpr core::RequestType send_type{
    .look = look_at_send,
    .cancel = cancel_send,
    .tell = tell_of_send,
    .heard_of_others = was_matched_elsewhere,
    .still_sends = still_sends,
    .session_of = session_of_send,
};
const core::TypeOfRequests sends(core::Operation::send, send_type);

constexpr core::RequestType receive_type{
    .look = look_at_receive,
    .cancel = cancel_receive,
    .tell = tell_of_receive,
    .heard_of_others = came_from_elsewhere,
};
const core::TypeOfRequests receives(core::Operation::receive, receive_type);

}  // namespace

void set_status_of_receive(MPI_Status* status, const core::Request& receive) noexcept {
    if (receive.cancelled)
        objects::set_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, true);
    else
        objects::set_status(status, receive.source, receive.tag, receive.bytes, false);
}

int refuse_to_cancel(core::Thread& thread, core::Request& request) {
    return objects::fail(thread, objects::live(request.communicator), MPI_ERR_REQUEST,
                         "argument request: collective and partitioned operations cannot be "
                         "cancelled");
}

}  // namespace heddle::p2p
