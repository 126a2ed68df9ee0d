// SPDX-License-Identifier: BSD-3-Clause
#include "objects/errors.hpp"

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <unistd.h>

#include "launch/job.hpp"
#include "objects/callback.hpp"
#include "objects/error_codes.hpp"
#include "objects/file.hpp"
#include "objects/process.hpp"
#include "platform/callers.hpp"

namespace heddle::objects {
namespace {

struct ClassEntry {
    int value;
    const char* name;
    const char* text;
};

#define CLASS(name, text) {MPI_##name, "MPI_" #name, text}
constexpr ClassEntry classes[] = {
    CLASS(SUCCESS, "no error"),
    CLASS(ERR_BUFFER, "invalid buffer pointer"),
    CLASS(ERR_COUNT, "invalid count"),
    CLASS(ERR_TYPE, "invalid datatype"),
    CLASS(ERR_TAG, "invalid tag"),
    CLASS(ERR_COMM, "invalid communicator"),
    CLASS(ERR_RANK, "invalid rank"),
    CLASS(ERR_REQUEST, "invalid request"),
    CLASS(ERR_ROOT, "invalid root"),
    CLASS(ERR_GROUP, "invalid group"),
    CLASS(ERR_OP, "invalid operation"),
    CLASS(ERR_TOPOLOGY, "invalid topology"),
    CLASS(ERR_DIMS, "invalid dimensions"),
    CLASS(ERR_ARG, "invalid argument"),
    CLASS(ERR_UNKNOWN, "unknown error"),
    CLASS(ERR_TRUNCATE, "message truncated on receive"),
    CLASS(ERR_OTHER, "known error not in this list"),
    CLASS(ERR_INTERN, "internal error of the MPI library"),
    CLASS(ERR_PENDING, "pending request"),
    CLASS(ERR_IN_STATUS, "error code is in the status"),
    CLASS(ERR_ACCESS, "permission denied"),
    CLASS(ERR_AMODE, "invalid file access mode"),
    CLASS(ERR_ASSERT, "invalid assertion"),
    CLASS(ERR_BAD_FILE, "invalid file name"),
    CLASS(ERR_BASE, "invalid base address"),
    CLASS(ERR_CONVERSION, "error in a data conversion function"),
    CLASS(ERR_DISP, "invalid displacement"),
    CLASS(ERR_DUP_DATAREP, "data representation already defined"),
    CLASS(ERR_FILE_EXISTS, "file exists"),
    CLASS(ERR_FILE_IN_USE, "file is open"),
    CLASS(ERR_FILE, "invalid file"),
    CLASS(ERR_INFO_KEY, "info key too long or empty"),
    CLASS(ERR_INFO_NOKEY, "no such info key"),
    CLASS(ERR_INFO_VALUE, "info value too long or empty"),
    CLASS(ERR_INFO, "invalid info object"),
    CLASS(ERR_IO, "input or output error"),
    CLASS(ERR_KEYVAL, "invalid attribute key"),
    CLASS(ERR_LOCKTYPE, "invalid lock type"),
    CLASS(ERR_NAME, "service name not published"),
    CLASS(ERR_NO_MEM, "out of memory"),
    CLASS(ERR_NOT_SAME, "arguments differ between processes"),
    CLASS(ERR_NO_SPACE, "no space left on device"),
    CLASS(ERR_NO_SUCH_FILE, "no such file"),
    CLASS(ERR_PORT, "invalid port name"),
    CLASS(ERR_QUOTA, "quota exceeded"),
    CLASS(ERR_READ_ONLY, "read-only file or file system"),
    CLASS(ERR_RMA_ATTACH, "memory cannot be attached"),
    CLASS(ERR_RMA_CONFLICT, "conflicting accesses to a window"),
    CLASS(ERR_RMA_RANGE, "target memory is not part of the window"),
    CLASS(ERR_RMA_SHARED, "memory cannot be shared"),
    CLASS(ERR_RMA_SYNC, "wrong synchronisation of one-sided calls"),
    CLASS(ERR_SERVICE, "invalid publish or unpublish"),
    CLASS(ERR_SIZE, "invalid size"),
    CLASS(ERR_SPAWN, "processes cannot be spawned"),
    CLASS(ERR_UNSUPPORTED_DATAREP, "unsupported data representation"),
    CLASS(ERR_UNSUPPORTED_OPERATION, "unsupported operation"),
    CLASS(ERR_WIN, "invalid window"),
    CLASS(ERR_RMA_FLAVOR, "wrong flavour of window"),
    CLASS(ERR_PROC_ABORTED, "a process has aborted"),
    CLASS(ERR_VALUE_TOO_LARGE, "value too large for its type"),
    CLASS(ERR_SESSION, "invalid session"),
    CLASS(ERR_ERRHANDLER, "invalid error handler"),
    CLASS(ERR_ABI, "mismatch of the ABI"),
    CLASS(T_ERR_CANNOT_INIT, "the tool interface cannot be initialized"),
    CLASS(T_ERR_NOT_ACCESSIBLE, "the tool interface cannot do this now"),
    CLASS(T_ERR_NOT_INITIALIZED, "the tool interface is not initialized"),
    CLASS(T_ERR_NOT_SUPPORTED, "not supported by the tool interface"),
    CLASS(T_ERR_MEMORY, "out of memory"),
    CLASS(T_ERR_INVALID, "wrong use of the tool interface, or a wrong argument"),
    CLASS(T_ERR_INVALID_INDEX, "invalid index"),
    CLASS(T_ERR_INVALID_ITEM, "invalid item of an enumeration"),
    CLASS(T_ERR_INVALID_SESSION, "invalid session"),
    CLASS(T_ERR_INVALID_HANDLE, "invalid handle"),
    CLASS(T_ERR_INVALID_NAME, "invalid name"),
    CLASS(T_ERR_OUT_OF_HANDLES, "no more handles"),
    CLASS(T_ERR_OUT_OF_SESSIONS, "no more sessions"),
    CLASS(T_ERR_CVAR_SET_NOT_NOW, "the control variable cannot be set at this moment"),
    CLASS(T_ERR_CVAR_SET_NEVER, "the control variable cannot be set"),
    CLASS(T_ERR_PVAR_NO_WRITE, "the performance variable cannot be written or reset"),
    CLASS(T_ERR_PVAR_NO_STARTSTOP, "the performance variable cannot be started or stopped"),
    CLASS(T_ERR_PVAR_NO_ATOMIC, "the performance variable cannot be read and reset at once"),
};
#undef CLASS

const ClassEntry* entry_of(int error_class) noexcept {
    for (const ClassEntry& entry : classes)
        if (entry.value == error_class) return &entry;
    return nullptr;
}

/// Returns MPI_SEND for mpi_send_, for mpi_send_f08ts_ and for mpi_send_c_f08ts_. Two routines have
/// their _c in Fortran, too.
std::string fortran_name(std::string symbol) {
    for (char& letter : symbol)
        letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
    const auto drop = [&symbol](std::string_view end) {
        const bool ends = symbol.ends_with(end);
        if (ends) symbol.resize(symbol.size() - end.size());
        return ends;
    };
    while (drop("_")) {}
    const bool is_new = drop("_F08TS") || drop("_F08");
    if (is_new && !symbol.ends_with("OP_CREATE_C") && !symbol.ends_with("DATAREP_C")) drop("_C");
    drop("_CPTR");
    return symbol;
}

/// Returns the name of the routine that the program has called. The Fortran bindings may have made
/// another call for it.
std::string routine(const char* call) {
    const std::string symbol = platform::entry_of("libmpifort_abi");
    return symbol.empty() ? call : fortran_name(symbol) + " (Fortran)";
}

std::string sentence(const char* call, const std::string& where, int error_class,
                     std::string_view detail) {
    return routine(call) + where + ": " + class_name(error_class) + ": " + std::string(detail);
}

}  // namespace

bool is_predefined_class(int code) noexcept { return entry_of(code) != nullptr; }

const char* class_name(int error_class) noexcept {
    const ClassEntry* entry = entry_of(error_class);
    return entry == nullptr ? "an error that the program defined" : entry->name;
}

const char* class_text(int error_class) noexcept {
    const ClassEntry* entry = entry_of(error_class);
    if (entry != nullptr) return entry->text;
    return is_user_code(error_class) ? user_text(error_class) : "unknown error code";
}

std::string name_of(const Communicator& communicator) {
    if (!communicator.name.empty()) return communicator.name;
    return "communicator of " + std::to_string(communicator.size()) + " processes";
}

void end_job(Process& process, int code, const std::string& reason) noexcept {
    const platform::ProgramCode end_of_program;  // exit handlers are code of the program
    node::Page& page = process.node.page(static_cast<std::size_t>(process.number()));
    page.abort_code.store(code, relaxed);
    std::snprintf(page.abort_reason, sizeof page.abort_reason, "%s", reason.c_str());
    page.phase.store(node::Phase::aborted, release);
    launch::abort(
        process.job, code,
        "rank " + std::to_string(process.rank()) + ": " +
            (reason.empty() ? "called MPI_Abort with code " + std::to_string(code) : reason));
}

int call_errhandler(Process& process, Errhandler& handler, void* object, int code,
                    const std::string& detail) {
    using For = Errhandler::For;
    if (handler.action == Errhandler::Action::give_back) return code;
    if (handler.action != Errhandler::Action::call) end_job(process, code, detail);
    int given = code;
    // The function gets the address of a handle.
    const auto call = [&]<class Function, class Handle>(Function* function, Handle handle) {
        call_program(function, &handle, &given);
    };
    switch (handler.what) {
        case For::session:
            call(reinterpret_cast<MPI_Session_errhandler_function*>(handler.function),
                 static_cast<MPI_Session>(object));
            break;
        case For::window:
            call(reinterpret_cast<MPI_Win_errhandler_function*>(handler.function),
                 static_cast<MPI_Win>(object));
            break;
        case For::file:
            call(reinterpret_cast<MPI_File_errhandler_function*>(handler.function),
                 static_cast<MPI_File>(object));
            break;
        default:
            call(reinterpret_cast<MPI_Comm_errhandler_function*>(handler.function),
                 static_cast<MPI_Comm>(object));
    }
    return code;
}

namespace {

/// A reference to the handler in force. The handler exists while it is called, and is let go even
/// if it throws.
class Held {
public:
    Held(Process& process, Errhandler*& in_force) : process_(process) {
        std::lock_guard guard(process.set_up);
        handler_ = in_force;
        handler_->retain();
    }
    ~Held() { drop(process_, *handler_); }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    Errhandler& operator*() const noexcept { return *handler_; }

private:
    Process& process_;
    Errhandler* handler_;
};

/// Returns the handler in force, which another thread may replace meanwhile.
Errhandler*& handler_in_force(Process& process, const ErrorScope& scope) noexcept {
    return scope.in_force != nullptr ? *scope.in_force : raised_without_object(process).errhandler;
}

void* handle_of_scope(Process& process, const ErrorScope& scope) noexcept {
    return scope.in_force != nullptr ? scope.handle : raised_without_object(process).handle;
}

/// Returns a text such as " on MPI_COMM_WORLD".
std::string where(Process& process, const ErrorScope& scope) {
    if (scope.name == nullptr) return {};
    std::lock_guard guard(process.set_up);  // for the name
    return " on " + scope.name(scope.object);
}

/// Keeps the text for MPI_Error_string.
void keep(core::Thread& thread, int error_class, const std::string& where,
          std::string_view detail) {
    thread.last_failure.error_class = MPI_SUCCESS;
    thread.last_failure.text = routine(thread.call) + where + ": " + std::string(detail);
    thread.last_failure.error_class = error_class;
}

/// Raises the error, even if memory for the text has run out.
int raise(core::Thread& thread, const ErrorScope& scope, int error_class, std::string_view detail) {
    Process& process = *thread.process;
    const Held handler(process, handler_in_force(process, scope));
    std::string text;
    try {
        const std::string place = where(process, scope);
        keep(thread, error_class, place, detail);
        if ((*handler).action == Errhandler::Action::give_back) return error_class;
        text = sentence(thread.call, place, error_class, detail);
    } catch (const std::bad_alloc&) {
        text = "out of memory";  // needs no memory
    }
    return call_errhandler(process, *handler, handle_of_scope(process, scope), error_class, text);
}

template <class Object>
std::string name_of_object(const void* object) {
    return name_of(*static_cast<const Object*>(object));
}

}  // namespace

ErrorScope::ErrorScope(Communicator* communicator) noexcept
    : in_force(communicator == nullptr ? nullptr : &communicator->errhandler) {
    if (communicator == nullptr) return;
    handle = communicator->handle;
    object = communicator;
    name = name_of_object<Communicator>;
}

ErrorScope::ErrorScope(Session& session) noexcept
    : in_force(&session.errhandler), handle(session.handle()) {
    name = [](const void*) -> std::string { return "a session"; };
}

ErrorScope::ErrorScope(Window& window) noexcept
    : in_force(&window.errhandler),
      handle(window.handle()),
      object(&window),
      name(name_of_object<Window>) {}

ErrorScope::ErrorScope(File& file) noexcept
    : in_force(&file.errhandler), handle(file.handle()), object(&file) {
    if (!file.name.empty()) name = name_of_object<File>;
}

int call_errhandler(core::Thread& thread, const ErrorScope& scope, int code,
                    const std::string& detail) {
    Process& process = *thread.process;
    const Held handler(process, handler_in_force(process, scope));
    return call_errhandler(process, *handler, handle_of_scope(process, scope), code, detail);
}

std::string name_of(const Window& window) {
    if (!window.name.empty()) return window.name;
    return "window of " + std::to_string(window.ranks) + " processes";
}

Communicator& raised_without_object(Process& process) noexcept {
    return process.self_has_errhandler.load(relaxed) ? *process.self : *process.world;
}

int fail(core::Thread& thread, const ErrorScope& scope, int error_class,
         const std::string& detail) {
    return raise(thread, scope, error_class, detail);
}

int fail(core::Thread& thread, const ErrorScope& scope, int error_class, const char* detail) {
    return raise(thread, scope, error_class, detail);
}

int fail_outside(const char* call, int error_class, const std::string& detail) {
    std::fprintf(stderr, "heddle: %s\n", sentence(call, "", error_class, detail).c_str());
    std::fflush(nullptr);
    _exit(1);
}

}  // namespace heddle::objects
