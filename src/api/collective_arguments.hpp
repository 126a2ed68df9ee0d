// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Kinds of arguments of collective calls (see arguments.hpp), and their use.
///
/// Some arguments are significant only at the root, or only without MPI_IN_PLACE. They are looked
/// up like any other argument. The implementation checks them when it needs them:
/// Later<Kind>::check().

#include <cstdint>
#include <string>

#include "api/entry.hpp"
#include "coll/schedule.hpp"

namespace heddle::api {

using core::Thread;

struct Root {
    static constexpr const char* name = "root";
    std::int32_t rank;

    Root(Process&, int raw) noexcept : rank(raw) {}
    int error(const Communicator* communicator) const noexcept {
        if (is_rank(rank, communicator)) [[likely]]
            return MPI_SUCCESS;
        // These stand in the root's group of an intercommunicator.
        const bool placed = rank == MPI_ROOT || rank == MPI_PROC_NULL;
        return placed && communicator->remote != nullptr ? MPI_SUCCESS : MPI_ERR_ROOT;
    }
    std::string wrong(const Communicator* communicator) const {
        if (rank == MPI_ROOT || rank == MPI_PROC_NULL)
            return std::string(rank == MPI_ROOT ? "MPI_ROOT" : "MPI_PROC_NULL") +
                " is for intercommunicators";
        return "rank " + std::to_string(rank) + " is not in the " +
            (communicator->remote == nullptr ? "communicator" : "remote group") +
            ", which has ranks 0 to " + std::to_string(communicator->peers - 1);
    }
};

struct Op {
    static constexpr const char* name = "op";
    static constexpr bool operation_of_reduction = true;  ///< see no_data_of() in entry.hpp
    objects::Operation* object;
    bool null;

    Op(Process& process, MPI_Op handle) noexcept
        : object(process.operation(handle)), null(handle == MPI_OP_NULL) {}
    int error(const Communicator*) const noexcept {
        return object == nullptr ? MPI_ERR_OP : MPI_SUCCESS;
    }
    std::string wrong(const Communicator*) const {
        return null ? "MPI_OP_NULL" : "no operation, or one that has been freed";
    }
    objects::Operation* operator->() const noexcept { return object; }
    objects::Operation& operator*() const noexcept { return *object; }
};

template <class Kind>
struct Later : Kind {
    using Kind::Kind;
    int error(const Communicator*) const noexcept { return MPI_SUCCESS; }
    int check(Thread& thread, Communicator& communicator) const {
        const int error = Kind::error(&communicator);
        if (error == MPI_SUCCESS) [[likely]]
            return MPI_SUCCESS;
        return refuse(thread, &communicator, error, Kind::name, Kind::wrong(&communicator));
    }
};

/// One value for each process, int or wide.
struct Values {
    const int* narrow = nullptr;
    const std::int64_t* wide = nullptr;

    explicit Values(const int* raw) noexcept : narrow(raw) {}
    explicit Values(const std::int64_t* raw) noexcept : wide(raw) {}
    const void* address() const noexcept {
        return narrow != nullptr ? static_cast<const void*>(narrow) : wide;
    }
    bool missing() const noexcept { return !is_memory(address()); }
    std::int64_t operator[](std::int32_t rank) const noexcept {
        return narrow != nullptr ? narrow[rank] : wide[rank];
    }
};

/// Counts for the processes that messages go to.
struct Counts : Values {
    static constexpr const char* name = "counts";
    template <class T>
    Counts(Process&, const T* raw) noexcept : Values(raw) {}
    int error(const Communicator* communicator) const noexcept {
        return communicator == nullptr ? MPI_SUCCESS : error(communicator->peers);
    }
    std::string wrong(const Communicator* communicator) const { return wrong(communicator->peers); }

protected:
    int error(std::int32_t ranks) const noexcept {
        if (missing()) return MPI_ERR_ARG;
        for (std::int32_t rank = 0; rank < ranks; ++rank)
            if ((*this)[rank] < 0) return MPI_ERR_COUNT;
        return MPI_SUCCESS;
    }
    std::string wrong(std::int32_t ranks) const {
        for (std::int32_t rank = 0; !missing() && rank < ranks; ++rank)
            if ((*this)[rank] < 0)
                return std::to_string((*this)[rank]) + " at index " + std::to_string(rank) +
                    " is negative";
        return no_memory(address());
    }
};

/// Counts for the processes of the local group, of an intercommunicator, too.
struct GroupCounts : Counts {
    using Counts::Counts;
    int error(const Communicator* communicator) const noexcept {
        return communicator == nullptr ? MPI_SUCCESS : Counts::error(communicator->size());
    }
    std::string wrong(const Communicator* communicator) const {
        return Counts::wrong(communicator->size());
    }
};

struct Displacements : Values {
    static constexpr const char* name = "displs";
    template <class T>
    Displacements(Process&, const T* raw) noexcept : Values(raw) {}
    int error(const Communicator*) const noexcept { return missing() ? MPI_ERR_ARG : MPI_SUCCESS; }
    std::string wrong(const Communicator*) const { return no_memory(address()); }
};

/// A datatype for each process. If there are no elements, any handle is allowed: programs pass
/// MPI_DATATYPE_NULL. So each is checked together with its count.
struct TypeList {
    static constexpr const char* name = "types";
    Process& process;
    const MPI_Datatype* handles;

    TypeList(Process& owner, const MPI_Datatype* raw) noexcept : process(owner), handles(raw) {}
    int error(const Communicator*) const noexcept {
        return is_memory(handles) ? MPI_SUCCESS : MPI_ERR_ARG;
    }
    std::string wrong(const Communicator*) const { return no_memory(handles); }
    Type of_block(std::int32_t rank, std::int64_t count) const noexcept {
        return Type(process, count == 0 ? MPI_BYTE : handles[rank]);
    }
};

/// The same kinds by the names of the standard.
HEDDLE_NAMED(BcastBuffer, ReceiveBuffer, "buffer")
HEDDLE_NAMED(In, SendBuffer, "sendbuf")
HEDDLE_NAMED(Result, ReceiveBuffer, "recvbuf")
HEDDLE_NAMED(InCount, Count, "sendcount")
HEDDLE_NAMED(ResultCount, Count, "recvcount")
HEDDLE_NAMED(InType, Type, "sendtype")
HEDDLE_NAMED(ResultType, Type, "recvtype")
HEDDLE_NAMED(InCounts, Counts, "sendcounts")
HEDDLE_NAMED(ResultCounts, Counts, "recvcounts")
HEDDLE_NAMED(ResultGroupCounts, GroupCounts, "recvcounts")
HEDDLE_NAMED(InDisplacements, Displacements, "sdispls")
HEDDLE_NAMED(ResultDisplacements, Displacements, "rdispls")
HEDDLE_NAMED(InTypes, TypeList, "sendtypes")
HEDDLE_NAMED(ResultTypes, TypeList, "recvtypes")
HEDDLE_NAMED(LocalIn, SendBuffer, "inbuf")
HEDDLE_NAMED(LocalResult, ReceiveBuffer, "inoutbuf")

inline bool is_in_place(const void* address) noexcept { return address == MPI_IN_PLACE; }

}  // namespace heddle::api
