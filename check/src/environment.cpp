// SPDX-License-Identifier: BSD-3-Clause
/// Begins and ends the time in which calls are checked.

#include <mutex>

#include "buffers.hpp"
#include "findings.hpp"
#include "node.hpp"
#include "requests.hpp"

namespace heddle::check {

std::atomic<bool> checking{false};

namespace {

std::mutex guard;
int users = 0;  ///< the world model and sessions
bool world_has_ended = false;

/// Begins for one user. Sessions have no level of their own here: their threads are not checked.
void begin(bool world, int required = MPI_THREAD_MULTIPLE) {
    const std::lock_guard<std::mutex> held(guard);
    if (world) {
        int rank = 0;
        library().Comm_rank(MPI_COMM_WORLD, &rank);
        set_own_rank(rank);
        // The level that was requested, since another library may grant no more.
        set_thread_level(required);
        Node::join();
        first_communicators();
    }
    ++users;
    own_thread();
    checking = true;
}

/// Returns true if MPI has no users any more.
bool leave_mpi() {
    const std::lock_guard<std::mutex> held(guard);
    if (--users > 0) return false;
    checking = false;
    return true;
}

}  // namespace

int checked_Init(Caller, int* argc, char*** argv) {
    const int error = library().Init(argc, argv);
    if (error == MPI_SUCCESS) begin(true, MPI_THREAD_SINGLE);
    return error;
}

int checked_Init_thread(Caller, int* argc, char*** argv, int required, int* provided) {
    const int error = library().Init_thread(argc, argv, required, provided);
    if (error == MPI_SUCCESS) begin(true, required);
    return error;
}

int checked_Session_init(Caller from, MPI_Info info, MPI_Errhandler errhandler,
                         MPI_Session* session) {
    const int error = library().Session_init(info, errhandler, session);
    if (error != MPI_SUCCESS) return error;
    begin(false);
    made(Anytime(Function::Session_init, from), Object::session, *session);
    return error;
}

int checked_Session_finalize(Caller, MPI_Session* session) {
    const MPI_Session freed = value_of(session);
    const int error = library().Session_finalize(session);
    if (error == MPI_SUCCESS) {
        gone(Object::session, freed);
        if (leave_mpi()) tell_leaks();
    }
    return error;
}

int checked_Finalize(Caller) {
    // The program's functions that delete attributes of MPI_COMM_SELF still make calls, which are
    // checked.
    if (!is_on()) return library().Finalize();
    tell_open_requests();
    const int error = library().Finalize();
    const bool last = leave_mpi();
    world_has_ended = true;
    if (last) tell_leaks();
    tell_unreceived();
    return error;
}

/// Reports at exit, for sessions that are open to the end of the program.
__attribute__((destructor)) static void tell_at_exit() {
    if (world_has_ended && is_on()) tell_leaks();
}

}  // namespace heddle::check
