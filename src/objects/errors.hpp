// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The failure of a call: a message that names call, argument, communicator and rank, and then the
/// error handler in force (MPI 5.0, 9.3).
///
/// The function that finds the error calls one of these once and returns its result. Its callers
/// pass the result on.

#include <string>

#include "core/thread.hpp"
#include "mpi.h"
#include "objects/communicator.hpp"
#include "objects/session.hpp"

namespace heddle::objects {

class Process;
struct File;
struct Window;

/// Returns the communicator on which errors that belong to no object are raised: MPI_COMM_SELF (MPI
/// 5.0, 9.3). Programs written for standards before MPI 4.0 set a handler on MPI_COMM_WORLD only.
/// Their handler counts if SELF never got one. Outside of the world model the handler is the
/// initial one.
Communicator& raised_without_object(Process& process) noexcept;

/// An object that errors are raised on: its error handler, and what the message and that handler
/// need of it. The failing call makes it from the object that it works on.
struct ErrorScope {
    /// Uses raised_without_object() if the communicator is nullptr.
    ErrorScope(Communicator* communicator) noexcept;
    ErrorScope(Session& session) noexcept;
    ErrorScope(Window& window) noexcept;
    ErrorScope(File& file) noexcept;

    Errhandler** in_force;  ///< nullptr: the handler of raised_without_object()
    void* handle = nullptr;
    const void* object = nullptr;
    std::string (*name)(const void* object) = nullptr;  ///< called with the process's set-up lock
};

/// Fails the call that `thread` is in. `scope` is the object that the call works on. `detail` says
/// what is wrong, as a clause without a full stop. Returns the result of the MPI function, unless
/// the handler ends the program.
[[gnu::cold]] int fail(core::Thread& thread, const ErrorScope& scope, int error_class,
                       const std::string& detail);
[[gnu::cold]] int fail(core::Thread& thread, const ErrorScope& scope, int error_class,
                       const char* detail);

/// Does the same if no thread is attached: before MPI_Init and after MPI_Finalize.
[[gnu::cold]] int fail_outside(const char* call, int error_class, const std::string& detail);

/// Ends the whole job with an exit code, after writing why on the board or on stderr. Without a
/// reason it says that the program has called MPI_Abort.
[[noreturn]] void end_job(Process& process, int code, const std::string& reason) noexcept;

/// Returns "MPI_ERR_RANK", or its meaning, for an error class or a code of ours.
const char* class_name(int error_class) noexcept;
const char* class_text(int error_class) noexcept;

bool is_predefined_class(int code) noexcept;

/// Calls the object's error handler with a code, although no call failed
/// (MPI_Comm_call_errhandler).
int call_errhandler(core::Thread& thread, const ErrorScope& scope, int code,
                    const std::string& detail);
/// Calls the given handler if there is no object, or not yet.
int call_errhandler(Process& process, Errhandler& handler, void* object, int code,
                    const std::string& detail);

/// Returns a name that the user gave, or "window of N processes".
std::string name_of(const Window& window);

/// Returns "MPI_COMM_WORLD", a name that the user gave, or "communicator of N processes".
std::string name_of(const Communicator& communicator);

}  // namespace heddle::objects
