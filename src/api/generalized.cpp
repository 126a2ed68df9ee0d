// SPDX-License-Identifier: BSD-3-Clause
/// Generalized requests (MPI 5.0, 13.2).

#include "p2p/requests/generalized.hpp"
#include "api/completion.hpp"
#include "api/entry.hpp"

namespace heddle::api {
namespace {

int grequest_start(Thread& thread, Raw<MPI_Grequest_query_function*> query,
                   Raw<MPI_Grequest_free_function*> free, Raw<MPI_Grequest_cancel_function*> cancel,
                   Raw<void*> extra_state, Out<MPI_Request> handle) {
    Request* request = p2p::start_generalized(engine_of(thread), thread, query.value, free.value,
                                              cancel.value, extra_state.value);
    if (request == nullptr)
        return objects::fail(thread, nullptr, MPI_ERR_NO_MEM, "no memory for a request");
    request->kind.store(core::Kind::request, relaxed);
    *handle = reinterpret_cast<MPI_Request>(request);
    return MPI_SUCCESS;
}

int grequest_complete(Thread& thread, Raw<MPI_Request> handle) {
    Request* request = nullptr;
    if (const int error = find_request(thread, handle.value, request)) return error;
    if (request == nullptr || request->operation != core::Operation::generalized ||
        request->completed())
        return objects::fail(thread, nullptr, MPI_ERR_REQUEST,
                             "argument request: not a generalized request that is still active");
    if (const int error = p2p::complete_generalized(thread, *request))
        return objects::fail(thread, nullptr, error, "the function that frees the request failed");
    return MPI_SUCCESS;
}

}  // namespace
}  // namespace heddle::api

using namespace heddle::api;

MPI_ENTRY(5, Grequest_start, grequest_start)
MPI_ENTRY(1, Grequest_complete, grequest_complete)
