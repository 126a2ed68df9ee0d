// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Kinds of arguments. Each is made from a value that the program passed. It tells whether the
/// value is an error (MPI_SUCCESS or an error class), and what is wrong with it.
///
/// A kind is    Kind(Process&, raw)                      looks handles up, checks nothing.
///              int error(const Communicator*) const     takes the call's communicator, or nullptr.
///              std::string wrong(const Communicator*)   returns a clause for the message.
///              static constexpr const char* name        is the argument's, as in the standard.
///
/// A kind that differs from another only in its name is a HEDDLE_NAMED. A kind that checks more
/// derives from it.

#include <cstdint>
#include <string>

#include "match/message.hpp"
#include "mpi.h"
#include "objects/communicator.hpp"
#include "objects/datatype.hpp"
#include "objects/process.hpp"

namespace heddle::api {

using objects::Communicator;
using objects::Process;

/// The first address that can be memory. Below it are a null pointer and constants that stand for
/// addresses: MPI_IN_PLACE, MPI_BUFFER_AUTOMATIC, MPI_UNWEIGHTED, MPI_WEIGHTS_EMPTY. A comparison
/// with it costs no more than one with null.
inline constexpr std::uintptr_t first_address = 4096;
inline bool is_memory(const void* address) noexcept {
    return reinterpret_cast<std::uintptr_t>(address) >= first_address;
}
/// Returns the same, but true for a null pointer.
inline bool is_memory_or_null(const void* address) noexcept {
    return reinterpret_cast<std::uintptr_t>(address) - 1 >= first_address - 1;
}
/// Returns what is wrong with an address that is_memory() denies.
std::string no_memory(const void* address);

/// Defines the kind `Base` under another name of the standard.
#define HEDDLE_NAMED(Kind, Base, mpi_name)            \
    struct Kind : Base {                              \
        static constexpr const char* name = mpi_name; \
        using Base::Base;                             \
    };

/// Returns what is wrong with a handle that names no communicator.
std::string no_communicator(MPI_Comm handle);

struct Comm {
    static constexpr const char* name = "comm";
    Communicator* object;

    Comm(Process& process, MPI_Comm raw) noexcept
        : object(process.communicator(raw)), handle(raw) {}
    int error(const Communicator*) const noexcept {
        if (object == nullptr) [[unlikely]]
            return MPI_ERR_COMM;
        return MPI_SUCCESS;
    }
    std::string wrong(const Communicator*) const { return no_communicator(handle); }
    Communicator* operator->() const noexcept { return object; }
    Communicator& operator*() const noexcept { return *object; }
    MPI_Comm handle;
};

/// A number of elements, or of bytes; MPI_Count in the large-count forms.
struct Count {
    static constexpr const char* name = "count";
    std::int64_t value;

    Count(const auto&, std::int64_t count) noexcept : value(count) {}
    int error(const Communicator*) const noexcept {
        if (value < 0) [[unlikely]]
            return MPI_ERR_COUNT;
        return MPI_SUCCESS;
    }
    std::string wrong(const Communicator*) const { return std::to_string(value) + " is negative"; }
};

struct Type {
    static constexpr const char* name = "datatype";
    objects::Datatype* object;

    Type(Process& process, MPI_Datatype handle) noexcept : object(process.datatype(handle)) {}
    int error(const Communicator*) const noexcept {
        if (object == nullptr || !object->committed) [[unlikely]]
            return MPI_ERR_TYPE;
        return MPI_SUCCESS;
    }
    std::string wrong(const Communicator*) const {
        return object == nullptr ? "no datatype, or one that has been freed"
                                 : "a datatype that has not been committed";
    }
    /// Puts in a type if none is needed: nothing is sent or received (see no_data_of()).
    void let_pass(Process& process) noexcept { object = process.datatype(MPI_BYTE); }
    objects::Datatype* operator->() const noexcept { return object; }
    objects::Datatype& operator*() const noexcept { return *object; }
};

/// Returns whether the rank is one of the communicator's. Returns true without a communicator: that
/// is an error of its own.
inline bool is_rank(std::int32_t rank, const Communicator* communicator) noexcept {
    return communicator == nullptr ||
        static_cast<std::uint32_t>(rank) < static_cast<std::uint32_t>(communicator->peers);
}

/// A rank to send to: one of the communicator's, or MPI_PROC_NULL.
struct Dest {
    static constexpr const char* name = "dest";
    std::int32_t rank;

    Dest(Process&, int raw) noexcept : rank(raw) {}
    bool null() const noexcept { return rank == MPI_PROC_NULL; }
    int error(const Communicator* communicator) const noexcept {
        if (is_rank(rank, communicator)) [[likely]]
            return MPI_SUCCESS;
        if (__builtin_expect(rank == MPI_PROC_NULL, 0)) return MPI_SUCCESS;
        return MPI_ERR_RANK;
    }
    std::string wrong(const Communicator* communicator) const;
};

/// A rank to receive from, or MPI_ANY_SOURCE.
struct Source {
    static constexpr const char* name = "source";
    std::int32_t rank;

    Source(Process&, int raw) noexcept : rank(raw) {}
    bool null() const noexcept { return rank == MPI_PROC_NULL; }
    int error(const Communicator* communicator) const noexcept {
        if (is_rank(rank, communicator) || rank == MPI_PROC_NULL) [[likely]]
            return MPI_SUCCESS;
        return rank == MPI_ANY_SOURCE && !communicator->hints.no_any_source ? MPI_SUCCESS
                                                                            : MPI_ERR_RANK;
    }
    std::string wrong(const Communicator* communicator) const;
};

/// The value of MPI_TAG_UB.
inline constexpr std::int32_t most_tag = 0x7fffffff;

struct SendTag {
    static constexpr const char* name = "tag";
    std::int32_t value;

    SendTag(Process&, int tag) noexcept : value(tag) {}
    int error(const Communicator*) const noexcept {
        if (value < 0) [[unlikely]]
            return MPI_ERR_TAG;
        return MPI_SUCCESS;
    }
    std::string wrong(const Communicator*) const;
};

struct ReceiveTag {
    static constexpr const char* name = "tag";
    std::int32_t value;

    ReceiveTag(Process&, int tag) noexcept : value(tag) {}
    int error(const Communicator* communicator) const noexcept {
        if (value >= 0) [[likely]]
            return MPI_SUCCESS;
        return value == MPI_ANY_TAG && (communicator == nullptr || !communicator->hints.no_any_tag)
            ? MPI_SUCCESS
            : MPI_ERR_TAG;
    }
    std::string wrong(const Communicator* communicator) const;
};

/// The place of data. Whether it must be memory depends on count and type: the implementation
/// decides.
struct SendBuffer {
    static constexpr const char* name = "buf";
    const std::byte* address;

    SendBuffer(Process&, const void* raw) noexcept : address(static_cast<const std::byte*>(raw)) {}
    int error(const Communicator*) const noexcept { return MPI_SUCCESS; }
    std::string wrong(const Communicator*) const { return {}; }
};
struct ReceiveBuffer {
    static constexpr const char* name = "buf";
    std::byte* address;

    ReceiveBuffer(Process&, void* raw) noexcept : address(static_cast<std::byte*>(raw)) {}
    int error(const Communicator*) const noexcept { return MPI_SUCCESS; }
    std::string wrong(const Communicator*) const { return {}; }
};

/// A place for a result. It must be memory.
template <class T>
struct Out {
    static constexpr const char* name = "result";
    T* place;

    Out(const auto&, T* raw) noexcept : place(raw) {}
    int error(const Communicator*) const noexcept {
        return is_memory(place) ? MPI_SUCCESS : MPI_ERR_ARG;
    }
    std::string wrong(const Communicator*) const {
        return no_memory(place) + ", where a result belongs";
    }
    T& operator*() const noexcept { return *place; }
    T* operator->() const noexcept { return place; }
};
/// A place that is also read.
template <class T>
using InOut = Out<T>;

/// A status, or MPI_STATUS_IGNORE, which is a null pointer.
struct Status {
    static constexpr const char* name = "status";
    MPI_Status* place;

    Status(const auto&, MPI_Status* raw) noexcept : place(raw) {}
    int error(const Communicator*) const noexcept {
        return is_memory_or_null(place) ? MPI_SUCCESS : MPI_ERR_ARG;
    }
    std::string wrong(const Communicator*) const { return no_memory(place); }
};

/// A status that a call has filled.
struct FilledStatus {
    static constexpr const char* name = "status";
    const MPI_Status* place;

    FilledStatus(const auto&, const MPI_Status* raw) noexcept : place(raw) {}
    int error(const Communicator*) const noexcept {
        return is_memory(place) ? MPI_SUCCESS : MPI_ERR_ARG;
    }
    std::string wrong(const Communicator*) const {
        return place == nullptr ? "MPI_STATUS_IGNORE, which says nothing" : no_memory(place);
    }
    const MPI_Status& operator*() const noexcept { return *place; }
};

/// An array. Another argument is its length. The implementation decides whether it may be missing.
template <class T>
struct Array {
    static constexpr const char* name = "array";
    /// If it has no elements, it may have any address (api/entry.hpp).
    static constexpr bool is_array = true;
    T* value;

    Array(const auto&, T* raw) noexcept : value(raw) {}
    int error(const Communicator*) const noexcept {
        return is_memory_or_null(value) ? MPI_SUCCESS : MPI_ERR_ARG;
    }
    std::string wrong(const Communicator*) const { return no_memory(value); }
};

/// A value that is passed on as it is. The implementation checks it.
template <class T>
struct Raw {
    static constexpr const char* name = "argument";
    T value;

    Raw(const auto&, T raw) noexcept : value(raw) {}
    int error(const Communicator*) const noexcept { return MPI_SUCCESS; }
    std::string wrong(const Communicator*) const { return {}; }
};

}  // namespace heddle::api
