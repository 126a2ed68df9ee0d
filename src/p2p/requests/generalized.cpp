// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/requests/generalized.hpp"

#include <atomic>
#include <memory>

#include "core/causality.hpp"
#include "core/request_type.hpp"
#include "objects/callback.hpp"
#include "objects/process.hpp"
#include "objects/status.hpp"
#include "p2p/progress_call.hpp"

namespace heddle::p2p {
namespace {

struct Functions {
    Functions(MPI_Grequest_query_function* query, MPI_Grequest_free_function* free,
              MPI_Grequest_cancel_function* cancel, void* extra_state) noexcept
        : query(query), free(free), cancel(cancel), extra_state(extra_state) {}

    MPI_Grequest_query_function* query;
    MPI_Grequest_free_function* free;
    MPI_Grequest_cancel_function* cancel;
    void* extra_state;
    std::atomic<std::uint32_t> ended{0};
};

// Parties that have ended their part, in Functions::ended.
constexpr std::uint32_t completed = 1;
/// By a thread that waited; the free function has been called.
constexpr std::uint32_t collected = 2;
constexpr std::uint32_t let_go = 4;  ///< the free function is to be called at completion

Functions& functions_of(core::Request& request) noexcept {
    return *static_cast<Functions*>(request.extra);
}

const Functions& functions_of(const core::Request& request) noexcept {
    return *static_cast<const Functions*>(request.extra);
}

int call_free(const Functions& functions) {
    if (functions.free == nullptr) return MPI_SUCCESS;
    return objects::call_program(functions.free, functions.extra_state);
}

void destroy(core::Thread& thread, core::Request& request) noexcept {
    delete &functions_of(request);
    request.extra = nullptr;
    thread.engine->requests().free(thread, request);
}

/// The last user of the request. Its destructor destroys the request, whatever the free function
/// throws.
struct Last {
    core::Thread& thread;
    core::Request& request;

    Last(core::Thread& caller, core::Request& of) noexcept : thread(caller), request(of) {}
    ~Last() { destroy(thread, request); }
    Last(const Last&) = delete;
    Last& operator=(const Last&) = delete;
};

/// The thread that has waited for the request. Its destructor ends that part, likewise.
struct Collector {
    core::Thread& thread;
    core::Request& request;

    Collector(core::Thread& caller, core::Request& of) noexcept : thread(caller), request(of) {}
    ~Collector() {
        request.kind.store(core::Kind::none, relaxed);
        if (functions_of(request).ended.fetch_or(collected, acq_rel) != 0) destroy(thread, request);
    }
    Collector(const Collector&) = delete;
    Collector& operator=(const Collector&) = delete;
};

}  // namespace

core::Request* start_generalized(Engine& engine, core::Thread& thread,
                                 MPI_Grequest_query_function* query,
                                 MPI_Grequest_free_function* free,
                                 MPI_Grequest_cancel_function* cancel, void* extra_state) {
    auto functions = std::make_unique<Functions>(query, free, cancel, extra_state);
    core::Request* request = engine.requests().take(thread);
    if (request == nullptr) return nullptr;
    request->operation = core::Operation::generalized;
    request->error = 0;
    request->cancelled = false;
    request->any_tag = true;  // a thread completes it, no instance in particular
    request->communicator = nullptr;
    request->extra = functions.release();
    return request;
}

int complete_generalized(core::Thread& thread, core::Request& request) {
    ProgressCall call(thread);
    core::causality::before(&request);
    call.complete(request);
    p2p::finish(call);
    // Acquire and release on both sides: the second thread sees all that the first one did.
    const std::uint32_t before = functions_of(request).ended.fetch_or(completed, acq_rel);
    if (before == 0) return MPI_SUCCESS;
    core::causality::after(&functions_of(request));
    const Last last(thread, request);
    return before == let_go ? call_free(functions_of(request)) : MPI_SUCCESS;
}

namespace {

int query(const core::Request& request, MPI_Status* status) {
    const Functions& functions = functions_of(request);
    MPI_Status scratch;
    MPI_Status* filled = objects::is_wanted(status) ? status : &scratch;
    objects::set_empty_status(filled);
    if (functions.query == nullptr) return MPI_SUCCESS;
    return objects::call_program(functions.query, functions.extra_state, filled);
}

int collect(core::Thread& thread, core::Request& request) {
    const Collector collector(thread, request);
    return call_free(functions_of(request));
}

/// Lets go of a request. The program still has to complete it, by a handle of its own.
int let_go_of(core::Thread& thread, core::Request& request) {
    core::causality::before(&functions_of(request));
    if (functions_of(request).ended.fetch_or(let_go, acq_rel) == 0) return MPI_SUCCESS;
    core::causality::after(&request);
    const Last last(thread, request);
    return call_free(functions_of(request));
}

int cancel(core::Thread&, core::Request& request) {
    const Functions& functions = functions_of(request);
    if (functions.cancel == nullptr) return MPI_SUCCESS;
    return objects::call_program(functions.cancel, functions.extra_state, int{request.completed()});
}

/// Tells that any thread of the program completes it.
void tell(core::Thread& thread, const core::Request&, node::AwaitedEvent& event) noexcept {
    event.kind = node::AwaitedKind::program;
    event.world_peer = thread.process->rank();
}

constexpr core::RequestType type{
    .look = query, .collect = collect, .let_go = let_go_of, .cancel = cancel, .tell = tell};
const core::TypeOfRequests generalized(core::Operation::generalized, type);

}  // namespace

}  // namespace heddle::p2p
