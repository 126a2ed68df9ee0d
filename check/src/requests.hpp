// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The requests that the program holds, by handle.

#include <memory>
#include <vector>

#include "checks.hpp"
#include "communicators.hpp"

namespace heddle::check {

struct Partitions {
    Buffer whole;         ///< empty if it is not checked
    MPI_Count count = 0;  ///< elements of each partition
    std::uint64_t pair = 0;
    std::vector<std::uint64_t> hashes;  ///< hashes of ready partitions; each belongs to its thread
    std::vector<std::uint8_t> ready;    ///< each belongs to its thread

    Buffer part(std::size_t number) const;
    void forget() noexcept;
};

struct Tracked {
    enum class State : std::uint8_t { held, completing, over };

    Function function{};
    Place place = 0;  ///< where it was made
    Kind kind = Kind::other;
    bool persistent = false, active = false;
    bool shared = false;     ///< stands for all operations with this handle, the list `next`
    bool cancelled = false;  ///< MPI_Cancel was called
    bool overlaps = false;   ///< another operation uses its buffer, and that was told
    bool receives = false, hashed = false;
    State state = State::held;
    Uses uses;
    std::uint64_t hash = 0;

    std::shared_ptr<Comm> comm;              ///< the communicator of its messages
    int dest = MPI_PROC_NULL, send_tag = 0;  ///< of its send
    Signature signature;
    Sent sent;
    std::unique_ptr<Partitions> partitions;       ///< of a partitioned message
    int source = MPI_PROC_NULL, receive_tag = 0;  ///< of its receive
    Tracked* next = nullptr;                      ///< another operation with the same handle

    Place completed_at = 0;  ///< in state over: the call that completed it
    int thread = 0;          ///< the thread that completes it
    MPI_Request handle = MPI_REQUEST_NULL;
};

/// Returns the pair of a record, or 0 if it is no partitioned message.
inline std::uint64_t pair_of(const Tracked& tracked) noexcept {
    return tracked.partitions == nullptr ? 0 : tracked.partitions->pair;
}
/// Numbers its pair of MPI_Psend_init and MPI_Precv_init, once the library has accepted it.
void number_pair(Tracked& tracked);
/// Returns nullptr if it is no active partitioned request.
Tracked* partitioned_request(MPI_Request request);
/// Reports partitions that were changed too early, when this call has completed a send.
void look_at_partitions(const Call& call, const Tracked& tracked);

/// Returns the request that a call is about to complete, or nullptr if it is not checked. Reports a
/// request that is in use or over.
Tracked* begin_completion(const Call& call, MPI_Request request);
/// Completes the request with this status if the call did; else it goes on (not_completed()).
void end_completion(const Call& call, Tracked* tracked, const MPI_Status& status, int error);
void not_completed(Tracked* tracked);
/// Lets the request go on after a call without a result for it, unless its handle is gone (`now`).
void leave(Tracked* tracked, MPI_Request now);
/// Begins MPI_Start. Returns nullptr if the request is not checked.
Tracked* begin_start(const Call& call, MPI_Request request);
void not_started(Tracked* tracked);
/// Ends MPI_Request_free.
void released(Tracked* tracked);
void tell_open_requests();

/// Keeps a message that a matched probe has returned.
void matched(MPI_Message message, MPI_Comm comm);
/// Takes the message out. Returns nullptr if it is unknown.
std::shared_ptr<Comm> comm_of_message(MPI_Message message);
void look_at_probe(const Call& call, MPI_Comm comm, int source, int tag);

/// Handles a receive that has failed. It is unknown which message it has taken.
void lost();

/// Adds a record for the message that `tracked` sends.
void put_on_its_way(Tracked& tracked);
/// Compares the data of a receive with those that were sent.
void compare_received(const char* call, Place place, const Comm& comm, const Buffer& buffer,
                      int source, int tag, std::uint64_t pair = 0);

}  // namespace heddle::check
