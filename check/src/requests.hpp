// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Requests that the program holds, by their handle.

#include <memory>
#include <vector>

#include "checks.hpp"
#include "communicators.hpp"

namespace heddle::check {

struct Partitions {
    Buffer whole;         ///< empty: it is not looked at
    MPI_Count count = 0;  ///< elements of each
    std::uint64_t pair = 0;
    std::vector<std::uint64_t> hashes;  ///< of those that are ready; each is its thread's
    std::vector<std::uint8_t> ready;    ///< likewise

    Buffer part(std::size_t number) const;
    void forget() noexcept;
};

struct Tracked {
    enum class State : std::uint8_t { held, completing, over };

    Function function{};
    Place place = 0;  ///< where it was made
    Kind kind = Kind::other;
    bool persistent = false, active = false;
    bool shared = false;     ///< no operation, but all those that have this handle: `next` and on
    bool cancelled = false;  ///< MPI_Cancel was called
    bool overlaps = false;   ///< another operation has its buffer: that it changes was told
    bool receives = false, hashed = false;
    State state = State::held;
    Uses uses;
    std::uint64_t hash = 0;

    std::shared_ptr<Comm> comm;              ///< of its messages
    int dest = MPI_PROC_NULL, send_tag = 0;  ///< what it sends
    Signature signature;
    Sent sent;
    std::unique_ptr<Partitions> partitions;       ///< of a partitioned message
    int source = MPI_PROC_NULL, receive_tag = 0;  ///< what it receives
    Tracked* next = nullptr;                      ///< another operation of the same handle

    Place completed_at = 0;  ///< state over: by which call
    int thread = 0;          ///< that completes it
    MPI_Request handle = MPI_REQUEST_NULL;
};

/// The pair that a record belongs to; 0: it is no partitioned message.
inline std::uint64_t pair_of(const Tracked& tracked) noexcept {
    return tracked.partitions == nullptr ? 0 : tracked.partitions->pair;
}
/// Which pair of MPI_Psend_init and MPI_Precv_init it belongs to, now that the library has accepted it.
void number_pair(Tracked& tracked);
/// nullptr if it is none that is active.
Tracked* partitioned_request(MPI_Request request);
/// A send has been completed by this call: tells of partitions that were changed too early.
void look_at_partitions(const Call& call, const Tracked& tracked);

/// The one that a call is about to complete; nullptr if it is none that is looked at. Tells if it is in use or over.
Tracked* begin_completion(const Call& call, MPI_Request request);
/// The call has completed it, with this status; else it goes on (not_completed()).
void end_completion(const Call& call, Tracked* tracked, const MPI_Status& status, int error);
void not_completed(Tracked* tracked);
/// The call has told nothing of it: it goes on, unless its handle is no more (`now`).
void leave(Tracked* tracked, MPI_Request now);
/// Before MPI_Start; nullptr as above.
Tracked* begin_start(const Call& call, MPI_Request request);
void not_started(Tracked* tracked);
/// After MPI_Request_free.
void released(Tracked* tracked);
void tell_open_requests();

/// A matched probe has answered this message.
void matched(MPI_Message message, MPI_Comm comm);
/// Takes it out; nullptr: not known.
std::shared_ptr<Comm> comm_of_message(MPI_Message message);
void look_at_probe(const Call& call, MPI_Comm comm, int source, int tag);

/// A receive has failed: what it has taken is not known.
void lost();

/// A record for the message that `tracked` sends.
void put_on_its_way(Tracked& tracked);
/// Compares what a receive has taken with what was sent.
void compare_received(const char* call, Place place, const Comm& comm, const Buffer& buffer,
                      int source, int tag, std::uint64_t pair = 0);

}  // namespace heddle::check
