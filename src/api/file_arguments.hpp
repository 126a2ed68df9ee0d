// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Kinds of arguments of files (see arguments.hpp).

#include <cstdint>
#include <string>

#include "api/object_arguments.hpp"
#include "io/opening.hpp"

namespace heddle::api {

/// A call without a file. Its errors are raised on MPI_FILE_NULL.
struct WithoutFile {
    std::optional<objects::ErrorScope> scope(core::Thread& thread) const noexcept {
        return thread.process->files->null;
    }
};

struct FileName : Text, WithoutFile {
    static constexpr const char* name = "filename";
    using Text::Text;
    int error(const Communicator*) const noexcept {
        return is_memory(value) && *value != '\0' ? MPI_SUCCESS : MPI_ERR_BAD_FILE;
    }
    std::string wrong(const Communicator*) const {
        return is_memory(value) ? "an empty name" : no_memory(value) + ", where a name belongs";
    }
};

struct FileComm : Comm {
    using Comm::Comm;
    int error(const Communicator* communicator) const noexcept {
        if (object != nullptr && object->remote != nullptr) return MPI_ERR_COMM;
        return Comm::error(communicator);
    }
    std::string wrong(const Communicator* communicator) const {
        return object == nullptr ? Comm::wrong(communicator) : "an intercommunicator";
    }
};

/// A combination of modes that the standard allows (MPI 5.0, 14.2.1).
struct AccessMode {
    static constexpr const char* name = "amode";
    int value;

    AccessMode(const auto&, int raw) noexcept : value(raw) {}
    int error(const Communicator*) const noexcept {
        return why() == nullptr ? MPI_SUCCESS : MPI_ERR_AMODE;
    }
    std::string wrong(const Communicator*) const { return why(); }

private:
    bool has(int mode) const noexcept { return (value & mode) != 0; }
    /// Returns nullptr if nothing is wrong.
    const char* why() const noexcept {
        constexpr int all = MPI_MODE_APPEND | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE |
            MPI_MODE_EXCL | MPI_MODE_RDONLY | MPI_MODE_RDWR | MPI_MODE_SEQUENTIAL |
            MPI_MODE_UNIQUE_OPEN | MPI_MODE_WRONLY;
        if ((value & ~all) != 0) return "has modes that there are not for files";
        if (has(MPI_MODE_RDONLY) + has(MPI_MODE_RDWR) + has(MPI_MODE_WRONLY) != 1)
            return "is not exactly one of MPI_MODE_RDONLY, MPI_MODE_RDWR and MPI_MODE_WRONLY";
        if (has(MPI_MODE_RDONLY) && has(MPI_MODE_CREATE | MPI_MODE_EXCL))
            return "has MPI_MODE_RDONLY with MPI_MODE_CREATE or MPI_MODE_EXCL";
        if (has(MPI_MODE_RDWR) && has(MPI_MODE_SEQUENTIAL))
            return "has MPI_MODE_RDWR with MPI_MODE_SEQUENTIAL";
        return nullptr;
    }
};

/// An offset, in etypes or in bytes.
struct Offset {
    static constexpr const char* name = "offset";
    std::int64_t value;

    Offset(const auto&, MPI_Offset raw) noexcept : value(raw) {}
    int error(const Communicator*) const noexcept { return value < 0 ? MPI_ERR_ARG : MPI_SUCCESS; }
    std::string wrong(const Communicator*) const { return std::to_string(value) + " is negative"; }
};
HEDDLE_NAMED(FileSize, Offset, "size")

}  // namespace heddle::api
