// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/requests/requests.hpp"

#include "objects/process.hpp"

namespace heddle::p2p {

Requests::Requests(core::Arena<core::Request>& arena) : arena_(arena) {
    arena.leave_out(&completed_send_);
    completed_send_.operation = core::Operation::send;
    completed_send_.immortal = true;
    completed_send_.done.store(true, relaxed);
    completed_send_.kind.store(core::Kind::request, relaxed);
}

void Requests::free_completed(core::Thread& thread, core::Request& request) noexcept {
    const core::RequestType& type = core::type_of(request);
    if (type.free != nullptr)
        type.free(thread, request);
    else
        free(thread, request);
}

void Requests::drop_layout(core::Thread& thread, core::Request& request) noexcept {
    request.laid_out = false;
    objects::drop(*thread.process, *request.layout);
}

}  // namespace heddle::p2p
