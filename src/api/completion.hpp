// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Finds operations by request handles, and makes statuses of complete operations.
///
/// A persistent request stays the user's while its operation, an inner request, comes and goes. All
/// other requests are the operation themselves. active_of() returns the request to wait for.

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "api/messages.hpp"
#include "core/request_type.hpp"

namespace heddle::api {

/// Raises the error that there is no such operation (any more).
int has_been_completed(Thread& thread);
/// Returns the request behind a handle, without raising an error. Returns nullptr if the handle is
/// no request, also for MPI_REQUEST_NULL. Also returns nullptr for one of very many requests.
[[gnu::always_inline]] inline Request* usual_request(const Engine& engine,
                                                     MPI_Request handle) noexcept {
    auto* candidate = reinterpret_cast<Request*>(handle);
    return engine.requests().is_usual(candidate) &&
            candidate->kind.load(relaxed) == core::Kind::request
        ? candidate
        : nullptr;
}

/// A request that usual_request() has not found, among the others. It is nullptr for
/// MPI_REQUEST_NULL, or with an error, which has been raised.
struct Unusual {
    Request* request;
    int error;
};
[[gnu::cold]] Unusual find_unusual_request(Thread& thread, MPI_Request handle);
/// Finds the request behind a handle: nullptr for MPI_REQUEST_NULL. Any result but MPI_SUCCESS has
/// been raised.
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
/// Returns nullptr if there is nothing to wait for.
inline Request* active_of(Request* request) noexcept {
    return request != nullptr && is_persistent(*request) ? request->inner : request;
}

/// Makes progress for the sake of these requests. Offers the core now and then, since the caller
/// asks in a loop.
void make_progress(Thread& thread, std::span<Request* const> active);
/// Does the same for the sake of a message that the pattern accepts.
void make_progress(Thread& thread, const match::Pattern& pattern);
bool done_after_progress(Thread& thread, Request& active);

/// Writes the status of a complete request. Returns its error code, which is not raised yet.
int look(const Request& request, MPI_Status* status);

/// The last completion of this thread that failed. take_failed_request() may be called once.
struct FailedRequest {
    /// The file on which the error is raised; nullptr if it was no access to a file.
    objects::File* file = nullptr;
    std::string why;  ///< empty: its class says everything
};
FailedRequest take_failed_request();

/// Returns who sent how much, for a receive that was too short for its message.
std::string words_of_cut(const Request& receive);
/// Notes the same text for take_failed_request().
void note_cut(const Request& receive);

/// Does the same as look(), then frees the operation. The handle becomes null unless the request is
/// persistent. An error calls `failed` with the request's communicator, which is forgotten
/// afterwards. Handle and status are those of another ABI if a face hands calls on
/// (api/direct.hpp).
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
    // If two threads complete copies of a handle, one of them has nothing to complete.
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
/// Completes the request, and raises its error.
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

/// These serve MPI_Request_free and MPI_Cancel.
int let_go(Thread& thread, Request& request);
int cancel_active(Thread& thread, Request& active);

/// The requests of a call that takes an array of handles.
struct Selection {
    int find(Thread& thread, std::int64_t count, const MPI_Request* handles);
    std::size_t size() const noexcept { return requests.size(); }

    std::span<Request*> requests;  ///< nullptr for MPI_REQUEST_NULL
    std::span<Request*> active;    ///< nullptr if there is nothing to wait for
    bool any_active = false;

private:
    static constexpr std::size_t few = 256;
    std::array<Request*, 2 * few> local_;  ///< not initialised: most calls take few requests
    std::vector<Request*> many_;
};

}  // namespace heddle::api
