// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A communicator (MPI 5.0, 7): the processes that take part, and a context that separates its
/// messages from others.
///
/// Intercommunicators have two groups. Messages go to the remote one: `processes`, `peers`.
/// Messages within the local group use local_communicator().
///
/// Life           the handle is valid until MPI_Comm_free. The object lives until no reference is
///                left, since persistent requests may still be started. Pending operations need
///                only its context ids.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "core/object.hpp"
#include "node/stages.hpp"
#include "objects/attributes.hpp"
#include "objects/contexts.hpp"
#include "objects/errhandler.hpp"
#include "objects/group.hpp"

namespace heddle::p2p {
class BsendBuffer;
}  // namespace heddle::p2p

namespace heddle::topo {
struct Topology;
}  // namespace heddle::topo

namespace heddle::objects {

struct Info;

/// A value that every message reads and any thread may write at any time. Readers may see the old
/// one or the new one.
template <class T>
class Relaxed {
public:
    Relaxed(T value) noexcept : value_(value) {}
    Relaxed(const Relaxed& other) noexcept : value_(T{other}) {}
    Relaxed& operator=(const Relaxed& other) noexcept { return *this = T{other}; }
    Relaxed& operator=(T value) noexcept {
        value_.store(value, relaxed);
        return *this;
    }
    operator T() const noexcept { return value_.load(relaxed); }

private:
    std::atomic<T> value_;
};
using Flag = Relaxed<bool>;

/// Assertions of the user (MPI 5.0, 7.4.4), as info keys mpi_assert_*.
struct Hints {
    Flag no_any_tag = false;        ///< receives never use MPI_ANY_TAG
    Flag no_any_source = false;     ///< receives never use MPI_ANY_SOURCE
    Flag exact_length = false;      ///< messages have the length of their receives
    Flag allow_overtaking = false;  ///< messages may be matched in any order
};

/// Memory that the ranks share for blocking collectives, as this rank sees it
/// (coll/shared_scratch.hpp).
struct SharedScratch {
    bool known = false;           ///< the ranks have agreed whether there is any
    std::uint32_t halves = 0;     ///< uses of its halves so far
    std::byte* memory = nullptr;  ///< its address here; nullptr: there is none, or none yet
    node::Stage stage;
    std::shared_ptr<const platform::Mapping> mapping;  ///< of a stage that is a segment
    std::uint64_t turn = 0;                            ///< the last turn that a call has taken
    std::uint64_t room = 0;  ///< the last turn whose slots are known to be free.
    /// The place of this rank among the sharing ranks, and their number.
    std::int32_t place = 0, places = 0;
    /// The ranks at these places; nullptr: all of the communicator.
    const std::int32_t* ranks = nullptr;
};

/// The communicator's ranks by node (objects/nodes.hpp).
struct Nodes;

/// Every message reads the fields above the line. They are written only while the communicator is
/// made, except the hints.
struct Communicator : core::Object {
    /// Context of point-to-point messages; collectives use context + 1. MPI_Comm_idup sets it when
    /// its request completes, while reports look for the communicator of a context.
    Relaxed<std::uint32_t> context = 0;
    std::int32_t rank = 0;   ///< of this process, in the local group
    std::int32_t peers = 0;  ///< size of the group that messages go to (the remote one, if any)
    const std::int32_t* processes = nullptr;  ///< rank in that group -> number of the process
    Hints hints;                              ///< written by MPI_Comm_set_info, too
    // ----
    std::uint32_t agreed = 0;  ///< where the context arrives while MPI_Comm_idup is pending
    Communicator* next = nullptr;
    Group* group = nullptr;  ///< local group, counted
    /// The remote group of an intercommunicator, counted; otherwise nullptr.
    Group* remote = nullptr;
    /// The local group comes first in the order of an intercommunicator's participants.
    bool is_first = true;
    std::atomic<Communicator*> local{nullptr};  ///< see local_communicator(); counted
    Session* session = nullptr;  ///< the session it comes from, counted; nullptr: the world model
    Errhandler* errhandler = nullptr;          ///< counted; guarded by the process's set-up lock
    MPI_Comm handle = MPI_COMM_NULL;           ///< the user's name for it
    std::string name;                          ///< guarded likewise
    Attributes attributes;                     ///< guarded likewise
    std::shared_ptr<p2p::BsendBuffer> buffer;  ///< MPI_Comm_attach_buffer; guarded likewise
    /// nullptr if there is none; set while the communicator is made.
    std::shared_ptr<const topo::Topology> topology;
    /// Nonblocking and persistent collectives so far, which give their tags. One thread at a time.
    std::uint32_t collectives = 0;
    std::uint32_t calls = 0;       ///< collective calls so far, of all kinds; likewise
    SharedScratch scratch;         ///< likewise
    std::shared_ptr<Nodes> nodes;  ///< nullptr until a call needs them

    std::int32_t size() const noexcept { return group->size(); }
};

/// Returns the communicator whose error handler a failed request is raised on. Returns nullptr if
/// the request belongs to none, or to one that is gone.
inline Communicator* live(Communicator* communicator) noexcept {
    return communicator != nullptr && communicator->is(core::Kind::communicator) ? communicator
                                                                                 : nullptr;
}

/// Returns the scratch memory before the ranks have agreed on it. Ranks of several nodes never do:
/// they have none.
SharedScratch unknown_scratch(const Process& process, const Group& group) noexcept;

/// Makes a communicator of `group`, and of `remote` if it is an intercommunicator. Takes over the
/// caller's references to both groups. The new communicator has the error handler of `parent` and
/// one reference, which is the handle's. Throws std::bad_alloc.
Communicator& make_communicator(Process& process, const Communicator& parent, std::uint32_t context,
                                Group& group, Group* remote = nullptr);
/// Returns the intracommunicator of the local group of an intercommunicator, for the part of a
/// collective within it. It has contexts of its own. This process alone makes it, at the first
/// call. It lives as long as the intercommunicator, and errors on it are raised on that one. Throws
/// std::bad_alloc.
Communicator& local_communicator(Process& process, Communicator& inter);
/// Gives back the communicator's memory for collectives.
void leave_scratch(const Process& process, Communicator& communicator) noexcept;
/// Returns the process that has this rank among the peers. Returns -1 if there is none or the
/// communicator is gone. The caller needs no reference: pending operations name communicators that
/// are freed meanwhile.
std::int32_t process_named_by(const Communicator& communicator, std::int32_t rank) noexcept;
/// Writes down the communicator of a context of point-to-point messages: its name, the size of the
/// group that messages go to, and the peer. The event names the peer by its rank, or `number` names
/// it by its number. Writes nothing if there is no such communicator. For threads that have slept
/// for long: it looks through all communicators.
void tell_communicator(Process& process, std::uint32_t context, node::AwaitedEvent& event,
                       std::int32_t number = -1) noexcept;
/// Drops a reference. The last one destroys the communicator.
void drop(Process& process, Communicator& communicator) noexcept;
/// Makes the handle invalid, and drops its reference.
void close_handle(Process& process, Communicator& communicator) noexcept;

/// Sets the known hints that `info` has. A hint that is absent stays as it is.
void apply_hints(Communicator& communicator, const Info& info);
/// Writes the hints in effect to `info`, for MPI_Comm_get_info.
void report_hints(const Communicator& communicator, Info& info);

}  // namespace heddle::objects
