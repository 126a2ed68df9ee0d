// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// What a kind of request does in its own way: one constant beside each implementation.
///
/// A new kind     gets a number (core::Operation) and, where it is implemented, a constant of this type and a
///                TypeOfRequests that names both. Nothing else asks which kind it is.
/// nullptr        stands for what most kinds do; each member says what that is.
/// Errors         functions that answer int answer an MPI error code.

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
    /// Of a complete one: writes the status, and answers the error, which is not raised yet.
    /// nullptr: the status is empty.
    int (*look)(const Request& request, MPI_Status* status) = nullptr;

    /// MPI_Wait, MPI_Test: frees what is complete and was looked at. nullptr: as `free`.
    int (*collect)(Thread& thread, Request& request) = nullptr;
    /// MPI_Request_free. nullptr: is freed when it is complete (p2p::Endings::free_when_done()).
    int (*let_go)(Thread& thread, Request& request) = nullptr;
    /// Frees what is complete and has no handle. nullptr: goes back to the thread's pool.
    void (*free)(Thread& thread, Request& request) noexcept = nullptr;

    /// MPI_Cancel. The error has been raised. nullptr: has no effect.
    int (*cancel)(Thread& thread, Request& request) = nullptr;

    /// MPI_Start, of persistent ones only: `inner` becomes the operation, nullptr when memory has run out.
    /// The error has been raised.
    int (*start)(Thread& thread, Request& request) = nullptr;

    /// For reports: the event that its completion is. nullptr: it says nothing of it.
    void (*tell)(Thread& thread, const Request& request,
                 node::AwaitedEvent& event) noexcept = nullptr;

    /// Whether other processes had to do something for it to be complete. nullptr: false.
    bool (*heard_of_others)(const Request& request) noexcept = nullptr;

    /// Whether it sends and is not over, and of which session that is (nullptr: of the world model).
    /// nullptr: it sends nothing.
    bool (*still_sends)(const Request& request) noexcept = nullptr;
    const objects::Session* (*session_of)(const Request& request) noexcept = nullptr;

    /// Of one that has failed: the file that the error is raised on, and what went wrong. nullptr: it is raised
    /// on the request's communicator.
    objects::File* (*file)(const Request& request, std::string& why) = nullptr;

    /// Errors are those of a collective, and told as such.
    bool collective = false;
};

/// By core::Operation; whole before main() begins.
extern constinit std::array<const RequestType*, operations> request_types;

/// Defined at namespace scope: `type` is that of all requests of this number.
struct TypeOfRequests {
    TypeOfRequests(Operation operation, const RequestType& type) noexcept {
        request_types[static_cast<std::size_t>(operation)] = &type;
    }
};

inline const RequestType& type_of(const Request& request) noexcept {
    return *request_types[static_cast<std::size_t>(request.operation)];
}

}  // namespace heddle::core
