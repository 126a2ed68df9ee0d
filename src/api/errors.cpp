// SPDX-License-Identifier: BSD-3-Clause
/// Error handlers, classes and codes (MPI 5.0, 9.3 to 9.5).

#include <cstring>

#include "api/entry.hpp"
#include "api/object_arguments.hpp"
#include "objects/error_codes.hpp"

namespace heddle::api {
namespace {

using core::Thread;
using objects::Errhandler;

// --- handlers ---

template <Errhandler::For what, class Function>
int create_object_errhandler(Thread& thread, Raw<Function*> function, Out<MPI_Errhandler> result) {
    constexpr const char* argument = what == Errhandler::For::window ? "win_errhandler_fn"
        : what == Errhandler::For::file                              ? "file_errhandler_fn"
                                                                     : "comm_errhandler_fn";
    if (function.value == nullptr)
        return refuse(thread, nullptr, MPI_ERR_ARG, argument, "a null pointer");
    *result = reinterpret_cast<MPI_Errhandler>(
        &objects::make_errhandler(*thread.process, Errhandler::Action::call, what,
                                  reinterpret_cast<Errhandler::Function>(function.value)));
    return MPI_SUCCESS;
}

// The objects that errors are raised on.
Errhandler::For handled_as(Comm) noexcept { return Errhandler::For::communicator; }
Errhandler::For handled_as(Win) noexcept { return Errhandler::For::window; }
Errhandler::For handled_as(Session) noexcept { return Errhandler::For::session; }
Errhandler::For handled_as(FileOrNull) noexcept { return Errhandler::For::file; }
objects::ErrorScope error_scope_of(Comm comm) noexcept { return comm.object; }
template <class Object>
objects::ErrorScope error_scope_of(Object object) noexcept {
    return *object;
}
void note_errhandler(Process& process, Comm comm) noexcept {
    if (comm.object == process.self) process.self_has_errhandler.store(true, relaxed);
}
template <class Object>
void note_errhandler(Process&, Object) noexcept {}

template <class Object>
int set_errhandler(Thread& thread, Object object, ErrorHandler handler) {
    if (!handler->is_for(handled_as(object)))
        return refuse(thread, error_scope_of(object), MPI_ERR_ERRHANDLER, ErrorHandler::name,
                      "an error handler for another kind of object");
    objects::set_errhandler(*thread.process, object->errhandler, *handler);
    note_errhandler(*thread.process, object);
    return MPI_SUCCESS;
}

template <class Object>
int get_errhandler(Thread& thread, Object object, Out<MPI_Errhandler> result) {
    *result = objects::get_errhandler(*thread.process, object->errhandler);
    return MPI_SUCCESS;
}

template <class Object>
int call_errhandler(Thread& thread, Object object, Raw<int> code) {
    objects::call_errhandler(thread, error_scope_of(object), code.value,
                             "called " + std::string(thread.call) + " with error " +
                                 std::to_string(code.value) + " (" +
                                 objects::class_text(code.value) + ")");
    return MPI_SUCCESS;
}

// --- classes and codes ---

int unknown_code(Anytime& caller, int code) {
    return caller.fail(MPI_ERR_ARG,
                       "argument errorcode: " + std::to_string(code) +
                           " is no error code, or not one that a program added");
}

int error_class(Anytime& caller, Raw<int> code, Out<int> result) {
    const int found = objects::class_of(code.value);
    if (found == MPI_ERR_LASTCODE && code.value != MPI_ERR_LASTCODE) {
        *result = MPI_ERR_UNKNOWN;
        return unknown_code(caller, code.value);
    }
    *result = found;
    return MPI_SUCCESS;
}

/// Returns how the calling thread's last call has failed, if that was an error of the class.
std::string last_failure(const Anytime& caller, int error_class) {
    if (caller.thread == nullptr || caller.thread->last_failure.error_class != error_class)
        return {};
    return "; " + caller.thread->last_failure.text;
}

int error_string(Anytime& caller, Raw<int> code, Out<char> place, Out<int> length) {
    std::string text;
    if (objects::is_predefined_class(code.value))
        text = std::string(objects::class_name(code.value)) + ": " +
            objects::class_text(code.value) + last_failure(caller, code.value);
    else if (objects::is_user_code(code.value))
        text = objects::user_text(code.value);
    else
        return unknown_code(caller, code.value);
    *length = write_text(text, place.place, MPI_MAX_ERROR_STRING);
    return MPI_SUCCESS;
}

int add_error_class(Anytime&, Out<int> result) {
    *result = objects::add_error_class();
    return MPI_SUCCESS;
}

int add_error_code(Anytime& caller, Raw<int> error_class, Out<int> result) {
    const int code = objects::add_error_code(error_class.value);
    if (code == 0)
        return caller.fail(
            MPI_ERR_ARG,
            "argument errorclass: " + std::to_string(error_class.value) + " is no error class");
    *result = code;
    return MPI_SUCCESS;
}

int add_error_string(Anytime& caller, Raw<int> code, Text text) {
    if (std::strlen(text.value) >= MPI_MAX_ERROR_STRING)
        return caller.fail(MPI_ERR_ARG,
                           "argument string: longer than " +
                               std::to_string(MPI_MAX_ERROR_STRING - 1) + " characters");
    return objects::add_error_string(code.value, text.value) ? MPI_SUCCESS
                                                             : unknown_code(caller, code.value);
}

template <int (*function)(int)>
int remove(Anytime& caller, Raw<int> code) {
    switch (function(code.value)) {
        case MPI_SUCCESS: return MPI_SUCCESS;
        case MPI_ERR_OTHER:
            return caller.fail(MPI_ERR_OTHER, "error codes or an error string are left");
        default: return unknown_code(caller, code.value);
    }
}

}  // namespace
}  // namespace heddle::api

using namespace heddle::api;
namespace objects = heddle::objects;
using heddle::objects::Errhandler;

MPI_ENTRY(2, Comm_create_errhandler,
          create_object_errhandler<Errhandler::For::communicator, MPI_Comm_errhandler_function>)
MPI_ENTRY(2, Win_create_errhandler,
          create_object_errhandler<Errhandler::For::window, MPI_Win_errhandler_function>)
MPI_ENTRY(2, Comm_set_errhandler, set_errhandler<Comm>)
MPI_ENTRY(2, Comm_get_errhandler, get_errhandler<Comm>)
MPI_ENTRY(2, Comm_call_errhandler, call_errhandler<Comm>)
MPI_ENTRY(2, Win_set_errhandler, set_errhandler<Win>)
MPI_ENTRY(2, Win_get_errhandler, get_errhandler<Win>)
MPI_ENTRY(2, Win_call_errhandler, call_errhandler<Win>)
MPI_ENTRY(2, File_create_errhandler,
          create_object_errhandler<Errhandler::For::file, MPI_File_errhandler_function>)
MPI_ENTRY(2, File_set_errhandler, set_errhandler<FileOrNull>)
MPI_ENTRY(2, File_get_errhandler, get_errhandler<FileOrNull>)
MPI_ENTRY(2, File_call_errhandler, call_errhandler<FileOrNull>)
MPI_ENTRY(2, Session_set_errhandler, set_errhandler<Session>)
MPI_ENTRY(2, Session_get_errhandler, get_errhandler<Session>)
MPI_ENTRY(2, Session_call_errhandler, call_errhandler<Session>)
MPI_ENTRY_ANYTIME(2, Error_class, error_class)
MPI_ENTRY_ANYTIME(3, Error_string, error_string)
MPI_ENTRY_ANYTIME(1, Add_error_class, add_error_class)
MPI_ENTRY_ANYTIME(2, Add_error_code, add_error_code)
MPI_ENTRY_ANYTIME(2, Add_error_string, add_error_string)
MPI_ENTRY_ANYTIME(1, Remove_error_class, remove<objects::remove_error_class>)
MPI_ENTRY_ANYTIME(1, Remove_error_code, remove<objects::remove_error_code>)
MPI_ENTRY_ANYTIME(1, Remove_error_string, remove<objects::remove_error_string>)
