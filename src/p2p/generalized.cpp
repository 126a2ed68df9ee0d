// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/generalized.hpp"

#include <memory>

#include "objects/status.hpp"
#include "p2p/turn.hpp"

namespace heddle::p2p {
namespace {

struct Functions {
    MPI_Grequest_query_function* query;
    MPI_Grequest_free_function* free;
    MPI_Grequest_cancel_function* cancel;
    void* extra_state;
};

const Functions& functions_of(const core::Request& request) noexcept {
    return *static_cast<const Functions*>(request.extra);
}

}  // namespace

core::Request* start_generalized(Engine& engine, core::Thread& thread, MPI_Grequest_query_function* query,
                                 MPI_Grequest_free_function* free, MPI_Grequest_cancel_function* cancel,
                                 void* extra_state) {
    auto functions = std::make_unique<Functions>(Functions{query, free, cancel, extra_state});
    core::Request* request = engine.take_request(thread);
    if (request == nullptr) return nullptr;
    request->operation = core::Operation::generalized;
    request->error = 0;
    request->cancelled = false;
    request->any_tag = true;  // it is completed by a thread, no instance in particular
    request->communicator = nullptr;
    request->extra = functions.release();
    return request;
}

void complete_generalized(core::Thread& thread, core::Request& request) {
    Turn turn(thread);
    turn.complete(request);
    turn.wake_all();
}

int query_generalized(const core::Request& request, MPI_Status* status) {
    const Functions& functions = functions_of(request);
    MPI_Status scratch;
    MPI_Status* filled = status == MPI_STATUS_IGNORE ? &scratch : status;
    objects::set_empty_status(filled);
    return functions.query == nullptr ? MPI_SUCCESS : functions.query(functions.extra_state, filled);
}

int free_generalized(core::Request& request) {
    const std::unique_ptr<Functions> functions(static_cast<Functions*>(request.extra));
    request.extra = nullptr;
    return functions->free == nullptr ? MPI_SUCCESS : functions->free(functions->extra_state);
}

int cancel_generalized(core::Request& request) {
    const Functions& functions = functions_of(request);
    return functions.cancel == nullptr ? MPI_SUCCESS
                                       : functions.cancel(functions.extra_state, request.completed());
}

}  // namespace heddle::p2p
