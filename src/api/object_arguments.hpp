// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Kinds of arguments that name objects other than communicators and datatypes, and text.

#include <optional>
#include <string>

#include "api/arguments.hpp"
#include "objects/errhandler.hpp"
#include "objects/errors.hpp"
#include "objects/file.hpp"
#include "objects/group.hpp"
#include "objects/info.hpp"
#include "objects/process.hpp"

namespace heddle::api {

struct Group {
    static constexpr const char* name = "group";
    objects::Group* object;
    bool null;

    Group(Process& process, MPI_Group handle) noexcept
        : object(process.group(handle)), null(handle == MPI_GROUP_NULL) {}
    int error(const Communicator*) const noexcept {
        return object == nullptr ? MPI_ERR_GROUP : MPI_SUCCESS;
    }
    std::string wrong(const Communicator*) const {
        return null ? "MPI_GROUP_NULL" : "no group, or one that has been freed";
    }
    objects::Group* operator->() const noexcept { return object; }
    objects::Group& operator*() const noexcept { return *object; }
};

struct Info {
    static constexpr const char* name = "info";
    objects::Info* object;
    bool null;

    Info(const auto&, MPI_Info handle) noexcept
        : object(objects::find_info(handle)), null(handle == MPI_INFO_NULL) {}
    int error(const Communicator*) const noexcept {
        return object == nullptr ? MPI_ERR_INFO : MPI_SUCCESS;
    }
    std::string wrong(const Communicator*) const {
        return null ? "MPI_INFO_NULL" : "no info object, or one that has been freed";
    }
    objects::Info* operator->() const noexcept { return object; }
    objects::Info& operator*() const noexcept { return *object; }
};

/// An info object, or MPI_INFO_NULL for no hints.
struct Hints : Info {
    using Info::Info;
    int error(const Communicator* communicator) const noexcept {
        return null ? MPI_SUCCESS : Info::error(communicator);
    }
};

struct ErrorHandler {
    static constexpr const char* name = "errhandler";
    objects::Errhandler* object;
    bool null;

    ErrorHandler(Process& process, MPI_Errhandler handle) noexcept
        : object(process.errhandler(handle)), null(handle == MPI_ERRHANDLER_NULL) {}
    int error(const Communicator*) const noexcept {
        return object == nullptr ? MPI_ERR_ERRHANDLER : MPI_SUCCESS;
    }
    std::string wrong(const Communicator*) const {
        return null ? "MPI_ERRHANDLER_NULL" : "no error handler, or one that has been freed";
    }
    objects::Errhandler* operator->() const noexcept { return object; }
    objects::Errhandler& operator*() const noexcept { return *object; }
};

/// A session, the first argument of calls on it. Their errors are raised on it.
struct Session {
    static constexpr const char* name = "session";
    objects::Session* object;
    bool null;

    Session(Process& process, MPI_Session handle) noexcept
        : object(process.session(handle)), null(handle == MPI_SESSION_NULL) {}
    int error(const Communicator*) const noexcept {
        return object == nullptr ? MPI_ERR_SESSION : MPI_SUCCESS;
    }
    std::string wrong(const Communicator*) const {
        return null ? "MPI_SESSION_NULL" : "no session, or one that has been finalized";
    }
    std::optional<objects::ErrorScope> scope(core::Thread&) const noexcept {
        return object != nullptr ? std::optional<objects::ErrorScope>(*object) : std::nullopt;
    }
    objects::Session* operator->() const noexcept { return object; }
    objects::Session& operator*() const noexcept { return *object; }
};

/// A window. Errors of calls on it are raised on it.
struct Win {
    static constexpr const char* name = "win";
    objects::Window* object;
    bool null;

    Win(Process& process, MPI_Win handle) noexcept
        : object(process.window(handle)), null(handle == MPI_WIN_NULL) {}
    int error(const Communicator*) const noexcept {
        if (object == nullptr) [[unlikely]]
            return MPI_ERR_WIN;
        return MPI_SUCCESS;
    }
    std::string wrong(const Communicator*) const {
        return null ? "MPI_WIN_NULL" : "no window, or one that has been freed";
    }
    objects::Window* window() const noexcept { return object; }
    std::optional<objects::ErrorScope> scope(core::Thread&) const noexcept {
        return object != nullptr ? std::optional<objects::ErrorScope>(*object) : std::nullopt;
    }
    objects::Window* operator->() const noexcept { return object; }
    objects::Window& operator*() const noexcept { return *object; }
};

/// A file. Errors of calls on it are raised on it. If a handle names none, they are raised on
/// MPI_FILE_NULL.
struct Fh {
    static constexpr const char* name = "fh";
    objects::File* object;
    bool null;

    Fh(Process& process, MPI_File handle) noexcept
        : object(process.file(handle)), null(handle == MPI_FILE_NULL) {}
    int error(const Communicator*) const noexcept {
        return object == nullptr ? MPI_ERR_FILE : MPI_SUCCESS;
    }
    std::string wrong(const Communicator*) const {
        return null ? "MPI_FILE_NULL" : "no file, or one that has been closed";
    }
    std::optional<objects::ErrorScope> scope(core::Thread& thread) const noexcept {
        return object != nullptr ? *object : thread.process->files->null;
    }
    objects::File* operator->() const noexcept { return object; }
    objects::File& operator*() const noexcept { return *object; }
};
/// A file, or MPI_FILE_NULL, whose error handler is that of calls without a file.
struct FileOrNull : Fh {
    FileOrNull(Process& process, MPI_File handle) noexcept : Fh(process, handle) {
        if (null) object = &process.files->null;
    }
};

struct Text {
    static constexpr const char* name = "string";
    const char* value;

    Text(const auto&, const char* raw) noexcept : value(raw) {}
    int error(const Communicator*) const noexcept {
        return is_memory(value) ? MPI_SUCCESS : MPI_ERR_ARG;
    }
    std::string wrong(const Communicator*) const {
        return no_memory(value) + ", where text belongs";
    }
};

/// The address of a pointer, which the standard declares as void*.
struct OutPointer {
    static constexpr const char* name = "result";
    void** place;

    OutPointer(const auto&, void* raw) noexcept : place(static_cast<void**>(raw)) {}
    int error(const Communicator*) const noexcept {
        return is_memory(place) ? MPI_SUCCESS : MPI_ERR_ARG;
    }
    std::string wrong(const Communicator*) const {
        return no_memory(place) + ", where a result belongs";
    }
};

/// Writes text as a result of `room` characters, cut if need be. Returns its length.
inline int write_text(const std::string& text, char* place, std::size_t room) noexcept {
    const std::size_t length = text.copy(place, room - 1);
    place[length] = '\0';
    return static_cast<int>(length);
}

}  // namespace heddle::api
