// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The functions in which kinds of requests differ: one constant beside each implementation.
///
/// A new kind     gets a number (core::Operation) and, beside its implementation, a constant of
///                this type and a TypeOfRequests that names both. Nothing else asks for the kind.
/// nullptr        stands for the behaviour of most kinds, which each member describes.
/// Errors         functions that return int return an MPI error code.

#include <array>
#include <cstddef>
#include <string>

#include "core/request.hpp"
#include "mpi.h"
#include "node/waits_for.hpp"

namespace heddle::objects {
struct File;
struct Session;
}  // namespace heddle::objects
namespace heddle::core {

struct Thread;

struct RequestType {
    /// Writes the status of a complete request. Returns the error, which is not raised yet.
    /// nullptr: the status is empty.
    int (*look)(const Request& request, MPI_Status* status) = nullptr;

    /// MPI_Wait, MPI_Test: frees a complete request after look(). nullptr: as `free`.
    int (*collect)(Thread& thread, Request& request) = nullptr;
    /// MPI_Request_free. nullptr: the request is freed when it is complete
    /// (p2p::Endings::free_when_done()).
    int (*let_go)(Thread& thread, Request& request) = nullptr;
    /// Frees a complete request that has no handle. nullptr: it goes back to the thread's pool.
    void (*free)(Thread& thread, Request& request) noexcept = nullptr;

    /// MPI_Cancel. The error has been raised. nullptr: has no effect.
    int (*cancel)(Thread& thread, Request& request) = nullptr;

    /// MPI_Start, only of persistent requests: `inner` becomes the operation, or nullptr if memory
    /// has run out. The error has been raised.
    int (*start)(Thread& thread, Request& request) = nullptr;

    /// For reports: writes the event that completes the request. nullptr: writes nothing.
    void (*tell)(Thread& thread, const Request& request,
                 node::AwaitedEvent& event) noexcept = nullptr;

    /// Returns whether the completion needed other processes. nullptr: false.
    bool (*heard_of_others)(const Request& request) noexcept = nullptr;

    /// still_sends: returns whether the request sends and is not over. nullptr: it sends nothing.
    /// session_of: returns the session that it belongs to (nullptr: to the world model).
    bool (*still_sends)(const Request& request) noexcept = nullptr;
    const objects::Session* (*session_of)(const Request& request) noexcept = nullptr;

    /// Returns the file that the error of a failed request is raised on, and why it failed.
    /// nullptr: the error is raised on the request's communicator.
    objects::File* (*file)(const Request& request, std::string& why) = nullptr;

    /// Errors are those of a collective, and reported as those.
    bool collective = false;
};

/// Types by core::Operation; complete before main() begins.
extern constinit std::array<const RequestType*, operations> request_types;

/// Registration of `type` for all requests of this number: a constant at namespace scope.
struct TypeOfRequests {
    TypeOfRequests(Operation operation, const RequestType& type) noexcept {
        request_types[static_cast<std::size_t>(operation)] = &type;
    }
};

inline const RequestType& type_of(const Request& request) noexcept {
    return *request_types[static_cast<std::size_t>(request.operation)];
}

}  // namespace heddle::core
