// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// From request handles to operations, and from complete operations to statuses.
///
/// A persistent request stays the user's while its operation, an inner request, comes and goes; for
/// all others the request is the operation. active_of() is what there is to wait for.

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "api/messages.hpp"
#include "core/request_type.hpp"

namespace heddle::api {

/// Raises that there is no such operation (any more).
int has_been_completed(Thread& thread);
/// The same without raising: nullptr for what is no request, MPI_REQUEST_NULL among it, or is one of very
/// many.
[[gnu::always_inline]] inline Request* usual_request(const Engine& engine,
                                                     MPI_Request handle) noexcept {
    auto* candidate = reinterpret_cast<Request*>(handle);
    return engine.requests().is_usual(candidate) &&
            candidate->kind.load(relaxed) == core::Kind::request
        ? candidate
        : nullptr;
}

/// What usual_request() has not found, among the others. nullptr with an error, which has been raised, or for
/// MPI_REQUEST_NULL.
struct Unusual {
    Request* request;
    int error;
};
[[gnu::cold]] Unusual find_unusual_request(Thread& thread, MPI_Request handle);
/// The request behind a handle; nullptr for MPI_REQUEST_NULL. Anything but MPI_SUCCESS has been raised.
[[gnu::always_inline]] inline int find_request(Thread& thread, MPI_Request handle,
                                               Request*& request) {
    request = usual_request(engine_of(thread), handle);
    if (request != nullptr) [[likely]]
        return MPI_SUCCESS;
    const Unusual found = find_unusual_request(thread, handle);
    request = found.request;
    return found.error;
}

inline bool is_persistent(const Request& request) noexcept {
    return core::is_persistent(request.operation);
}
/// nullptr if there is nothing to wait for.
inline Request* active_of(Request* request) noexcept {
    return request != nullptr && is_persistent(*request) ? request->inner : request;
}

/// Progress for the sake of these; offers the core now and then, since the caller asks in a loop.
void make_progress(Thread& thread, std::span<Request* const> active);
bool done_after_progress(Thread& thread, Request& active);

/// Writes the status of a complete request and answers its error code, which is not raised yet.
int look(const Request& request, MPI_Status* status);

/// What is known of the last completion of this thread that failed. To be asked for once.
struct FailedRequest {
    objects::File* file =
        nullptr;      ///< on which the error is raised; nullptr: it was no access to a file
    std::string why;  ///< empty: no more than its class says
};
FailedRequest take_failed_request();

/// Of a receive that was too short for its message: who sent how much.
std::string words_of_cut(const Request& receive);
/// The same for take_failed_request().
void note_cut(const Request& receive);

/// The same, then frees the operation; the handle becomes null unless the request is persistent.
/// `failed` hears of an error, with the request's communicator, which is forgotten afterwards.
/// Handle and status are those of another ABI where a face hands calls on (api/direct.hpp).
inline void set_null(MPI_Request& handle) noexcept { handle = MPI_REQUEST_NULL; }
int complete_uncommon(Thread& thread, MPI_Request& handle, Request& request, MPI_Status* status);
template <class Handle, class Status, class Failed>
[[gnu::always_inline]] inline int complete_quietly(Thread& thread, Handle&& handle,
                                                   Request& request, Status* status,
                                                   Failed failed) {
    using objects::set_empty_status;
    using objects::set_status;
    if (request.immortal) {
        set_null(handle);
        set_empty_status(status);
        return MPI_SUCCESS;
    }
    if (request.operation != core::Operation::receive || request.cancelled) [[unlikely]] {
        Communicator* const communicator = request.communicator;
        const int error = complete_uncommon(thread, handle, request, status);
        if (error != MPI_SUCCESS) failed(communicator);
        return error;
    }
    // Of two threads that complete copies of a handle, one has nothing to complete.
    if (!engine_of(thread).requests().claim(thread, request)) [[unlikely]] {
        failed(nullptr);
        return MPI_ERR_REQUEST;
    }
    set_null(handle);
    set_status(status, request.source, request.tag, request.bytes, false);
    const int error = request.error;
    if (error != MPI_SUCCESS) [[unlikely]] {
        if (error == MPI_ERR_TRUNCATE) note_cut(request);
        failed(request.communicator);
    }
    engine_of(thread).requests().free(thread, request);
    return error;
}
/// Raises the error of a completion of this thread.
[[gnu::cold]] int raise_failed(Thread& thread, Communicator* communicator, int error,
                               bool collective);
/// Completes, and raises the error.
template <class Handle, class Status>
[[gnu::always_inline]] inline int complete_and_raise(Thread& thread, Handle&& handle,
                                                     Request& request, Status* status) {
    Communicator* communicator = nullptr;
    const bool collective = core::type_of(*active_of(&request)).collective;
    const int error = complete_quietly(thread, handle, request, status,
                                       [&](Communicator* of) { communicator = live(of); });
    if (error == MPI_SUCCESS) [[likely]]
        return MPI_SUCCESS;
    return raise_failed(thread, communicator, error, collective);
}
int complete(Thread& thread, MPI_Request& handle, Request& request, MPI_Status* status);

/// MPI_Request_free, MPI_Cancel.
int let_go(Thread& thread, Request& request);
int cancel_active(Thread& thread, Request& active);

/// The requests of a call that takes an array of handles.
struct Selection {
    int find(Thread& thread, std::int64_t count, const MPI_Request* handles);
    std::size_t size() const noexcept { return requests.size(); }

    std::span<Request*> requests;  ///< nullptr: MPI_REQUEST_NULL
    std::span<Request*> active;    ///< nullptr: nothing to wait for
    bool any_active = false;

private:
    static constexpr std::size_t few = 256;
    std::array<Request*, 2 * few> local_;  ///< without initialisation: most calls take few requests
    std::vector<Request*> many_;
};

}  // namespace heddle::api
