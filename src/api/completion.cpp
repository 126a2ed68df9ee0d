// SPDX-License-Identifier: BSD-3-Clause
#include "api/completion.hpp"

#include "coll/execution.hpp"
#include "core/causality.hpp"
#include "p2p/generalized.hpp"
#include "p2p/join.hpp"
#include "part/partitioned.hpp"

namespace heddle::api {

int has_been_completed(Thread& thread) {
    return objects::fail(thread, nullptr, MPI_ERR_REQUEST,
                         "argument request: no request, or one that has been completed or freed");
}

Unusual find_unusual_request(Thread& thread, MPI_Request handle) {
    if (handle == MPI_REQUEST_NULL) return {nullptr, MPI_SUCCESS};
    auto* candidate = reinterpret_cast<Request*>(handle);
    if (!engine_of(thread).is_request(candidate) ||
        candidate->kind.load(relaxed) != core::Kind::request)
        return {nullptr, has_been_completed(thread)};
    return {candidate, MPI_SUCCESS};
}

void make_progress(Thread& thread, std::span<Request* const> active) {
    Engine& engine = engine_of(thread);
    if (engine.in_laboratory()) [[unlikely]] {
        engine.test_in_laboratory(thread);
    } else {
        engine.poll(thread, p2p::AnyRequest(engine, active).instances());
        engine.poll_all(thread);
    }
    // A loop of tests is a wait in disguise: whoever it waits for may need this core.
    constexpr std::uint32_t tests_between_offers = 32;
    if (++thread.tests % tests_between_offers == 0) progress::offer_core(thread.patience);
}

bool done_after_progress(Thread& thread, Request& active) {
    if (active.completed()) return true;
    Request* const one[] = {&active};
    make_progress(thread, one);
    return active.completed();
}

namespace {

void set_status_of_receive(MPI_Status* status, const Request& receive) noexcept {
    if (receive.cancelled)
        objects::set_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, true);
    else
        objects::set_status(status, receive.source, receive.tag, receive.bytes, false);
}

}  // namespace

int look(const Request& request, MPI_Status* status) {
    const Request& active = is_persistent(request) ? *request.inner : request;
    core::causality::found_complete(active);
    switch (active.operation) {
        case core::Operation::receive:
        case core::Operation::partitioned:
            set_status_of_receive(status, active);
            return active.error;
        case core::Operation::send:
            objects::set_empty_status(status);
            if (active.cancelled && objects::is_wanted(status))
                objects::set_cancelled(*status, true);
            return active.error;
        case core::Operation::join:
            if (const Request* receive = p2p::receive_of_join(active))
                set_status_of_receive(status, *receive);
            else
                objects::set_empty_status(status);
            return p2p::error_of_join(active);
        case core::Operation::generalized: return p2p::query_generalized(active, status);
        default: objects::set_empty_status(status); return active.error;
    }
}

namespace {

/// A query function that throws leaves the request to be completed once more.
int look_at_claimed(Thread& thread, Request& active, MPI_Status* status) {
    try {
        return look(active, status);
    } catch (...) {
        sync::Claims::mark(thread.claims, active.claimable);
        throw;
    }
}

}  // namespace

int complete_uncommon(Thread& thread, MPI_Request& handle, Request& request, MPI_Status* status) {
    Engine& engine = engine_of(thread);
    Request* active = active_of(&request);
    if (active == nullptr || (!active->immortal && !engine.claim(thread, *active)))
        return MPI_ERR_REQUEST;
    int error = look_at_claimed(thread, *active, status);
    if (is_persistent(request)) {
        request.inner = nullptr;
        engine.free_request(thread, *active);
        return error;
    }
    handle = MPI_REQUEST_NULL;
    switch (request.operation) {
        case core::Operation::generalized: {
            const int freed = p2p::collect_generalized(thread, request);
            if (error == MPI_SUCCESS) error = freed;
            break;
        }
        case core::Operation::join:
            request.kind.store(core::Kind::none, relaxed);
            p2p::let_go_of_join(thread, request);
            break;
        case core::Operation::schedule:
            request.kind.store(core::Kind::none, relaxed);
            coll::let_go(thread, request);
            break;
        default: engine.free_request(thread, request);
    }
    return error;
}

int complete(Thread& thread, MPI_Request& handle, Request& request, MPI_Status* status) {
    Communicator* communicator = nullptr;
    const Request* active = active_of(&request);
    const std::uint64_t room = active->capacity;
    const bool collective = active->operation == core::Operation::schedule;
    const int error = complete_quietly(thread, handle, request, status,
                                       [&](Communicator* of) { communicator = live(of); });
    if (error == MPI_SUCCESS) [[likely]]
        return MPI_SUCCESS;
    if (error == MPI_ERR_REQUEST) return has_been_completed(thread);
    if (collective && error == MPI_ERR_OTHER)
        return objects::fail(thread, communicator, error, "an exception left the operation");
    if (error != MPI_ERR_TRUNCATE)
        return objects::fail(thread, communicator, error, objects::class_text(error));
    const std::string bytes = std::to_string(room) + " bytes";
    return objects::fail(
        thread, communicator, error,
        collective ? "a process sent more than the " + bytes + " that this one expects of it"
                   : "the message is longer than the " + bytes +
                " of the receive; what fits was delivered");
}

int let_go(Thread& thread, Request& request) {
    Engine& engine = engine_of(thread);
    if (!request.immortal && !engine.claim(thread, request)) return has_been_completed(thread);
    if (request.operation == core::Operation::persistent_schedule) {
        coll::let_go(thread, request);
        engine.free_request(thread, request);
        return MPI_SUCCESS;
    }
    if (request.operation == core::Operation::persistent_partitioned) {
        if (request.extra != nullptr)
            static_cast<part::End*>(request.extra)->let_go(thread, request);
        else if (request.inner != nullptr)
            engine.free_request(thread, *request.inner);
        engine.free_request(thread, request);
        return MPI_SUCCESS;
    }
    if (is_persistent(request)) {
        if (request.inner != nullptr) engine.free_when_done(thread, *request.inner);
        objects::drop(*thread.process, *request.communicator);
        engine.free_request(thread, request);
        return MPI_SUCCESS;
    }
    if (request.immortal) return MPI_SUCCESS;
    // The program still has to say that a generalized one is complete, by a handle of its own.
    if (request.operation == core::Operation::generalized)
        return p2p::let_go_of_generalized(thread, request);
    request.kind.store(core::Kind::none, relaxed);
    if (request.operation == core::Operation::schedule)
        coll::let_go(thread, request);
    else
        engine.free_when_done(thread, request);
    return MPI_SUCCESS;
}

int cancel_active(Thread& thread, Request& active) {
    switch (active.operation) {
        case core::Operation::receive:
            if (!active.completed()) engine_of(thread).cancel_receive(thread, active);
            return MPI_SUCCESS;
        case core::Operation::send:
            engine_of(thread).cancel_send(thread, active);
            return MPI_SUCCESS;
        case core::Operation::generalized: return p2p::cancel_generalized(active);
        case core::Operation::schedule:
        case core::Operation::partitioned:
            return objects::fail(
                thread, live(active.communicator), MPI_ERR_REQUEST,
                "argument request: collective and partitioned operations cannot be "
                "cancelled");
        default: return MPI_SUCCESS;
    }
}

int Selection::find(Thread& thread, std::int64_t count, const MPI_Request* handles) {
    const auto size = static_cast<std::size_t>(count);
    if (handles == nullptr && size != 0)
        return objects::fail(thread, nullptr, MPI_ERR_ARG,
                             "argument array_of_requests: a null pointer");
    if (size > few) many_.resize(2 * size);
    Request** memory = size > few ? many_.data() : local_.data();
    requests = {memory, size};
    active = {memory + size, size};
    const Engine& engine = engine_of(thread);
    for (std::size_t i = 0; i < size; ++i) {
        Request* request = usual_request(engine, handles[i]);
        if (request == nullptr && handles[i] != MPI_REQUEST_NULL) [[unlikely]]
            if (const int error = find_request(thread, handles[i], request)) return error;
        requests[i] = request;
        active[i] = active_of(request);
        any_active = any_active || active[i] != nullptr;
    }
    return MPI_SUCCESS;
}

}  // namespace heddle::api
