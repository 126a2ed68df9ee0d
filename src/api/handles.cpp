// SPDX-License-Identifier: BSD-3-Clause
/// Handles as integers, for Fortran (MPI 5.0, 20.3.3).
///
/// A predefined handle is its own integer. Any other handle names an object of an arena: its number
/// there is the integer. So there is no table, and the integer is valid as long as the handle. A
/// handle that names nothing becomes 0, which is no handle of any kind.
///
/// The number of a request is the lower half of its address. MPI_Abi_get_info tells this
/// ("heddle_request_toint"): code that starts operations in Fortran needs no call for their
/// requests.

#include <cstdint>

#include "api/entry.hpp"
#include "objects/file.hpp"
#include "p2p/engine.hpp"

namespace heddle::api {
namespace {

using core::first_number;

template <class Handle>
bool is_predefined_handle(Handle handle) noexcept {
    return reinterpret_cast<std::uintptr_t>(handle) < first_number;
}
template <class Handle>
int constant_of(Handle handle) noexcept {
    return static_cast<int>(reinterpret_cast<std::uintptr_t>(handle));
}
bool is_constant(int number) noexcept { return static_cast<std::uint32_t>(number) < first_number; }
template <class Handle>
Handle constant_handle(int number) noexcept {
    return reinterpret_cast<Handle>(static_cast<std::uintptr_t>(number));
}

template <class T, class Handle>
int to_int(core::Arena<T>& arena, Handle handle) noexcept {
    if (is_predefined_handle(handle)) return constant_of(handle);
    const auto* object = reinterpret_cast<const T*>(handle);
    return arena.contains(object) ? static_cast<int>(arena.number_of(object)) : 0;
}
template <class Handle, class T>
Handle from_int(core::Arena<T>& arena, int number, Handle null) noexcept {
    if (is_constant(number)) return constant_handle<Handle>(number);
    T* object = arena.numbered(static_cast<std::uint32_t>(number));
    return object == nullptr ? null : reinterpret_cast<Handle>(object);
}

/// Converts handles of objects of a Process. Before MPI_Init there is none, and only constants are
/// handles.
template <auto arena, class Handle>
int process_to_int(Handle handle) noexcept {
    Process* process = process_here();
    if (process == nullptr) return is_predefined_handle(handle) ? constant_of(handle) : 0;
    return to_int(process->*arena, handle);
}
template <auto arena, class Handle>
Handle process_from_int(int number, Handle null) noexcept {
    Process* process = process_here();
    if (process != nullptr) return from_int(process->*arena, number, null);
    return is_constant(number) ? constant_handle<Handle>(number) : null;
}

/// Converts handles of kinds that have no objects: messages while there is no process.
template <class Handle>
int constant_to_int(Handle handle) noexcept {
    return is_predefined_handle(handle) ? constant_of(handle) : 0;
}
template <class Handle>
Handle constant_from_int(int number, Handle null) noexcept {
    return is_constant(number) ? constant_handle<Handle>(number) : null;
}

/// Converts a request. The send that is always complete lies in no arena, but has a number in the
/// same form.
int request_to_int(MPI_Request handle) noexcept {
    const Process* process = process_here();
    const bool completed = process != nullptr &&
        handle == reinterpret_cast<MPI_Request>(&process->engine->requests().completed_send());
    return completed ? static_cast<int>(core::lower_half(handle))
                     : process_to_int<&Process::requests>(handle);
}
MPI_Request request_from_int(int number) noexcept {
    if (Process* process = process_here()) {
        core::Request& completed = process->engine->requests().completed_send();
        if (core::lower_half(&completed) == static_cast<std::uint32_t>(number))
            return reinterpret_cast<MPI_Request>(&completed);
    }
    return process_from_int<&Process::requests>(number, MPI_REQUEST_NULL);
}

int message_to_int(MPI_Message handle) noexcept {
    Process* process = process_here();
    if (process == nullptr || is_predefined_handle(handle)) return constant_to_int(handle);
    return to_int(process->engine->messages(), handle);
}
MPI_Message message_from_int(int number) noexcept {
    Process* process = process_here();
    if (process == nullptr) return constant_from_int(number, MPI_MESSAGE_NULL);
    return from_int(process->engine->messages(), number, MPI_MESSAGE_NULL);
}

int file_to_int(MPI_File handle) noexcept {
    Process* process = process_here();
    if (process == nullptr || is_predefined_handle(handle)) return constant_to_int(handle);
    return to_int(process->files->arena, handle);
}
MPI_File file_from_int(int number) noexcept {
    Process* process = process_here();
    if (process == nullptr) return constant_from_int(number, MPI_FILE_NULL);
    return from_int(process->files->arena, number, MPI_FILE_NULL);
}

}  // namespace
}  // namespace heddle::api

using namespace heddle::api;

#define HANDLE(X, Handle, to, from)                                   \
    extern "C" int PMPI_##X##_toint(Handle handle) { return to; }     \
    extern "C" Handle PMPI_##X##_fromint(int number) { return from; } \
    HEDDLE_ALIAS(X##_toint)                                           \
    HEDDLE_ALIAS(X##_fromint)
#define IN_PROCESS(X, Handle, arena, null)                     \
    HANDLE(X, Handle, process_to_int<&Process::arena>(handle), \
           (process_from_int<&Process::arena, Handle>(number, null)))

IN_PROCESS(Comm, MPI_Comm, communicators, MPI_COMM_NULL)
IN_PROCESS(Group, MPI_Group, groups, MPI_GROUP_NULL)
IN_PROCESS(Type, MPI_Datatype, datatypes, MPI_DATATYPE_NULL)
IN_PROCESS(Errhandler, MPI_Errhandler, errhandlers, MPI_ERRHANDLER_NULL)
IN_PROCESS(Session, MPI_Session, sessions, MPI_SESSION_NULL)
IN_PROCESS(Op, MPI_Op, operations, MPI_OP_NULL)
HANDLE(Info, MPI_Info, to_int(heddle::objects::infos(), handle),
       from_int(heddle::objects::infos(), number, MPI_INFO_NULL))
HANDLE(Request, MPI_Request, request_to_int(handle), request_from_int(number))
HANDLE(Message, MPI_Message, message_to_int(handle), message_from_int(number))
IN_PROCESS(Win, MPI_Win, windows, MPI_WIN_NULL)
HANDLE(File, MPI_File, file_to_int(handle), file_from_int(number))
