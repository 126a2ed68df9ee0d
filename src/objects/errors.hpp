// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// How a failing call fails: a message that names call, argument, communicator and rank, and then
/// what the error handler in force says (MPI 5.0, 9.3).
///
/// Whoever finds the error calls one of these once and returns its answer; callers pass it on.

#include <string>

#include "core/thread.hpp"
#include "mpi.h"
#include "objects/communicator.hpp"
#include "objects/session.hpp"

namespace heddle::objects {

class Process;
struct File;
struct Window;

/// Where errors that belong to no object are raised: MPI_COMM_SELF (MPI 5.0, 9.3). Programs that know the
/// standard before MPI 4.0 set a handler on MPI_COMM_WORLD only: theirs counts where SELF never got one.
/// Outside of the world model the handler is the initial one.
Communicator& raised_without_object(Process& process) noexcept;

/// An object that errors are raised on: its error handler, and what a message and that handler get of it.
/// Made where a call fails, from whatever the call works on.
struct ErrorScope {
    /// nullptr: raised_without_object().
    ErrorScope(Communicator* communicator) noexcept;
    ErrorScope(Session& session) noexcept;
    ErrorScope(Window& window) noexcept;
    ErrorScope(File& file) noexcept;

    Errhandler** in_force;  ///< nullptr: that of raised_without_object()
    void* handle = nullptr;
    const void* object = nullptr;
    std::string (*name)(const void* object) = nullptr;  ///< called with the process's set-up lock
};

/// Fails the call that `thread` is in. `scope`: the object that it works on. `detail`: what is wrong, a
/// clause without a full stop. Answers what the MPI function returns, unless the handler ends the program.
[[gnu::cold]] int fail(core::Thread& thread, const ErrorScope& scope, int error_class,
                       const std::string& detail);
[[gnu::cold]] int fail(core::Thread& thread, const ErrorScope& scope, int error_class,
                       const char* detail);

/// The same where no thread is attached: before MPI_Init and after MPI_Finalize.
[[gnu::cold]] int fail_outside(const char* call, int error_class, const std::string& detail);

/// Ends the whole job with an exit code, having said why on the board or on stderr. No reason: the
/// program has called MPI_Abort.
[[noreturn]] void end_job(Process& process, int code, const std::string& reason) noexcept;

/// "MPI_ERR_RANK" and what it means, for an error class or a code of ours.
const char* class_name(int error_class) noexcept;
const char* class_text(int error_class) noexcept;

bool is_predefined_class(int code) noexcept;

/// What the error handler of the object does with a code, without a call that fails
/// (MPI_Comm_call_errhandler).
int call_errhandler(core::Thread& thread, const ErrorScope& scope, int code,
                    const std::string& detail);
/// The same where there is no object, or not yet: what this handler says.
int call_errhandler(Process& process, Errhandler& handler, void* object, int code,
                    const std::string& detail);

/// A name that the user gave, or "window of N processes".
std::string name_of(const Window& window);

/// "MPI_COMM_WORLD", a name that the user gave, or "communicator of N processes".
std::string name_of(const Communicator& communicator);

}  // namespace heddle::objects
