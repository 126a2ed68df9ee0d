// SPDX-License-Identifier: BSD-3-Clause
#include "api/completion.hpp"

#include <memory>
#include <utility>

#include "core/causality.hpp"
#include "progress/tested.hpp"

namespace heddle::api {

int has_been_completed(Thread& thread) {
    return objects::fail(thread, nullptr, MPI_ERR_REQUEST,
                         "argument request: no request, or one that has been completed or freed");
}

Unusual find_unusual_request(Thread& thread, MPI_Request handle) {
    if (handle == MPI_REQUEST_NULL) return {nullptr, MPI_SUCCESS};
    auto* candidate = reinterpret_cast<Request*>(handle);
    if (!engine_of(thread).requests().contains(candidate) ||
        candidate->kind.load(relaxed) != core::Kind::request)
        return {nullptr, has_been_completed(thread)};
    return {candidate, MPI_SUCCESS};
}

namespace {

void poll(Thread& thread, std::span<Request* const> active) {
    Engine& engine = engine_of(thread);
    if (!engine.base().features.sleep) [[unlikely]] {
        engine.recipes().test(thread);
    } else {
        engine.polling().poll(thread, p2p::AnyRequest(engine, active).instances());
        engine.polling().poll_all(thread);
    }
}

/// Counts a test that may have found nothing. A loop of tests is a wait in disguise: the thread or
/// process it waits for may need this core, and a report tells what the loop waits for.
template <class Condition>
void count_test(Thread& thread, const Condition& condition) {
    constexpr std::uint32_t tests_between_offers = 32;
    if (++thread.tests % tests_between_offers != 0) return;
    progress::offer_core(thread.patience, false);
    Engine& engine = engine_of(thread);
    if (engine.base().features.sleep)  // reports tell of no others
        progress::note_tests(engine.polling(), thread, condition);
}

}  // namespace

void make_progress(Thread& thread, std::span<Request* const> active) {
    poll(thread, active);
    count_test(thread, p2p::AwaitedRequests(engine_of(thread), active));
}

void make_progress(Thread& thread, const match::Pattern& pattern) {
    poll(thread, {});
    count_test(thread, p2p::Probed(engine_of(thread), thread, pattern, true, false));
}

bool done_after_progress(Thread& thread, Request& active) {
    if (active.completed()) return true;
    Request* const one[] = {&active};
    make_progress(thread, one);
    return active.completed();
}

int look(const Request& request, MPI_Status* status) {
    const Request& active = is_persistent(request) ? *request.inner : request;
    core::causality::found_complete(active);
    const core::RequestType& type = core::type_of(active);
    if (type.look != nullptr) return type.look(active, status);
    objects::set_empty_status(status);
    return active.error;
}

namespace {

/// A pointer, since a library that is loaded late gets little thread-local memory. The function
/// that sets it takes it before the call is over.
constinit thread_local FailedRequest* failed_request = nullptr;

void note_failed(FailedRequest&& failed) {
    delete std::exchange(failed_request, new FailedRequest(std::move(failed)));
}

void note_failed(const Request& request, int error) {
    FailedRequest failed;
    if (core::type_of(request).file != nullptr)
        failed.file = core::type_of(request).file(request, failed.why);
    else if (error == MPI_ERR_TRUNCATE)
        failed.why = words_of_cut(request);
    else
        return;
    note_failed(std::move(failed));
}

/// Looks at a request that this thread has claimed. If a query function throws, the request can be
/// completed once more.
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
    if (active == nullptr || (!active->immortal && !engine.requests().claim(thread, *active)))
        return MPI_ERR_REQUEST;
    const int error = look_at_claimed(thread, *active, status);
    if (error != MPI_SUCCESS) [[unlikely]]
        note_failed(*active, error);
    if (is_persistent(request)) {
        request.inner = nullptr;
        engine.requests().free(thread, *active);
        return error;
    }
    handle = MPI_REQUEST_NULL;
    const core::RequestType& type = core::type_of(request);
    int freed = MPI_SUCCESS;
    if (type.collect != nullptr)
        freed = type.collect(thread, request);
    else
        engine.requests().free_completed(thread, request);
    return error != MPI_SUCCESS ? error : freed;
}

std::string words_of_cut(const Request& receive) {
    const std::string room = std::to_string(receive.capacity),
                      length = std::to_string(receive.order);
    if (core::type_of(receive).collective)
        return "rank " + std::to_string(receive.source) + " sent " + length +
            " bytes, and this process expects " + room + " of it";
    if (receive.order <= receive.capacity)  // parts of a message: none has come
        return "the message is longer than the " + room + " bytes of the receive";
    return "the message from rank " + std::to_string(receive.source) + " with tag " +
        std::to_string(receive.tag) + " has " + length + " bytes, the receive has room for " +
        room + "; what fits was delivered";
}

void note_cut(const Request& receive) { note_failed({nullptr, words_of_cut(receive)}); }

FailedRequest take_failed_request() {
    if (failed_request == nullptr) return {};
    const std::unique_ptr<FailedRequest> failed(std::exchange(failed_request, nullptr));
    return std::move(*failed);
}

int raise_failed(Thread& thread, Communicator* communicator, int error, bool collective) {
    if (error == MPI_ERR_REQUEST) return has_been_completed(thread);
    const FailedRequest failed = take_failed_request();
    if (failed.file != nullptr) return objects::fail(thread, *failed.file, error, failed.why);
    if (!failed.why.empty()) return objects::fail(thread, communicator, error, failed.why);
    return objects::fail(thread, communicator, error,
                         collective && error == MPI_ERR_OTHER ? "an exception left the operation"
                                                              : objects::class_text(error));
}

int complete(Thread& thread, MPI_Request& handle, Request& request, MPI_Status* status) {
    return complete_and_raise(thread, handle, request, status);
}

int let_go(Thread& thread, Request& request) {
    Engine& engine = engine_of(thread);
    if (!request.immortal && !engine.requests().claim(thread, request))
        return has_been_completed(thread);
    const core::RequestType& type = core::type_of(request);
    if (type.let_go != nullptr) return type.let_go(thread, request);
    if (request.immortal) return MPI_SUCCESS;
    request.kind.store(core::Kind::none, relaxed);
    engine.endings().free_when_done(thread, request);
    return MPI_SUCCESS;
}

int cancel_active(Thread& thread, Request& active) {
    const core::RequestType& type = core::type_of(active);
    return type.cancel != nullptr ? type.cancel(thread, active) : MPI_SUCCESS;
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
