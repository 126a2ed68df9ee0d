// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Records the MPI calls of a thread. Generated wrappers (trace/generate.py) make a Call for each.
///
/// This library is loaded before the program (LD_PRELOAD), only in jobs of `mpiexec --trace` or
/// `--advice`. So the MPI library never asks whether a job is traced. Traced calls take the same
/// short paths as others.
///
/// Thread safety  a Call belongs to its thread. Objects, requests and streams belong to the
///                process.
/// Calls within   a function of the program that MPI calls may call MPI: its records follow the
///                outer one.

#include <cstdint>
#include <span>
#include <vector>

#include "functions.hpp"
#include "layout.hpp"
#include "mpi.h"

namespace heddle::trace {

/// True if this process is traced.
extern bool on;
inline bool is_on() noexcept { return on; }

/// Begins after MPI_Init, when ranks are known. All processes of MPI_COMM_WORLD call it.
void begin_process() noexcept;
/// Ends before MPI_Finalize. All processes of MPI_COMM_WORLD call it.
void end_process() noexcept;

/// Returns the number of bytes of `count` elements.
std::int64_t bytes_of(std::int64_t count, MPI_Datatype type) noexcept;

/// A request, or a message of MPI_Mprobe.
struct Pending {
    enum Kind : std::uint8_t { send, receive, collective, other };
    std::uint64_t handle;  ///< 0 if there is none
    std::uint64_t record;  ///< the record by which it began (Record::request)
    std::uint32_t sequence;
    std::int32_t peer, tag;
    std::uint16_t object;
    Kind kind;
    bool persistent;
};

class Call {
public:
    Call(Function which, const void* from) noexcept;
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

    void object(MPI_Comm handle) noexcept { object_of(handle_of(handle)); }
    void object(MPI_Win handle) noexcept { object_of(handle_of(handle)); }
    void object(MPI_File handle) noexcept { object_of(handle_of(handle)); }
    void peer(int rank) noexcept { record_->peer = rank; }
    void tag(int tag) noexcept { record_->tag = tag; }
    void bytes(std::int64_t bytes) noexcept { record_->bytes = bytes; }
    void sends() noexcept;
    void receives() noexcept { record_->flags |= flag_receives; }
    void collective() noexcept;

    /// Notes a request that this call has begun.
    template <class Handle>
    void began(Handle handle, Pending::Kind kind) noexcept {
        keep(handle_of(handle), kind, false);
    }
    /// Notes a message that was matched.
    void began(MPI_Message message, const MPI_Status& status) noexcept;
    /// Notes a persistent request that this call has made.
    void made(MPI_Request request, Pending::Kind kind) noexcept {
        keep(handle_of(request), kind, true);
    }
    void starts(const MPI_Request* requests, int count) noexcept;
    void frees(MPI_Request request) noexcept;
    static void cancels_one() noexcept;
    void of_message(MPI_Message message) noexcept;

    /// Notes that the receive of this call is complete.
    void received(const MPI_Status& status) noexcept;
    /// Notes the same for a call that also sends.
    void received_too(const MPI_Status& status) noexcept;
    /// Notes whether a test found something.
    void tested(bool found) noexcept { vain_ = !found; }

    void add(MPI_Comm* handle, MPI_Comm from) noexcept;
    void add(MPI_Comm* handle) noexcept;
    void add(MPI_Comm* handle, MPI_Group) noexcept { add(handle); }
    void add(MPI_Win* handle, MPI_Comm from) noexcept;
    void add(MPI_File* handle, MPI_Comm from) noexcept;
    template <class Handle>
    void forget(Handle handle) noexcept {
        forget_object(handle_of(handle));
    }

    int end(int error) noexcept;

private:
    friend class Requests;
    template <class Handle>
    static std::uint64_t handle_of(Handle handle) noexcept {
        return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(handle));
    }
    void object_of(std::uint64_t handle) noexcept;
    void forget_object(std::uint64_t handle) noexcept;
    void keep(std::uint64_t handle, Pending::Kind kind, bool persistent) noexcept;
    void complete(const Pending& pending, const MPI_Status& status) noexcept;

    Ring* ring_;
    Record* record_;
    std::uint64_t number_;
    std::uint64_t came_back_ = 0;  ///< ticks, if they were read before end()
    bool vain_ = false;
};

/// The requests that a call completes. They are saved before it, since their handles are gone
/// afterwards.
class Requests {
public:
    /// `until_complete` is true if the call returns when all are complete.
    Requests(Call& call, const MPI_Request* requests, int count,
             bool until_complete = false) noexcept;
    ~Requests();
    Requests(const Requests&) = delete;
    Requests& operator=(const Requests&) = delete;
    void complete(int index, const MPI_Status& status) const noexcept;

private:
    Call& call_;
    std::uint64_t* handles_;
    std::uint64_t few_[16];
    Pending only_{};  ///< the request that was taken out
};

/// Gives the call a status if the program ignores it.
class OwnStatus {
public:
    explicit OwnStatus(MPI_Status*& status) noexcept {
        if (status == MPI_STATUS_IGNORE) status = &own_;
    }

private:
    MPI_Status own_;
};
class OwnStatuses {
public:
    OwnStatuses(MPI_Status*& statuses, int count) {
        if (statuses != MPI_STATUSES_IGNORE || count <= 0) return;
        if (static_cast<std::size_t>(count) > std::size(few_))
            many_.resize(static_cast<std::size_t>(count));
        statuses = many_.empty() ? few_ : many_.data();
    }

private:
    MPI_Status few_[16];
    std::vector<MPI_Status> many_;
};

}  // namespace heddle::trace
