// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A communicator (MPI 5.0, 7): who takes part, and a context that keeps its messages apart.
///
/// Intercommunicators have two groups. Messages go to the remote one: `processes`, `peers`. What the
/// local group says to itself goes through local_communicator().
///
/// Life           its handle is good until MPI_Comm_free; the object lives until nobody refers to it,
///                since persistent requests may still be started. Operations on their way need only
///                its context ids.

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

/// Read by every message and written at any time, by whoever: the value before or after will do.
class Flag {
public:
    Flag(bool value) noexcept : value_(value) {}
    Flag(const Flag& other) noexcept : value_(bool{other}) {}
    Flag& operator=(const Flag& other) noexcept { return *this = bool{other}; }
    Flag& operator=(bool value) noexcept {
        value_.store(value, relaxed);
        return *this;
    }
    operator bool() const noexcept { return value_.load(relaxed); }

private:
    std::atomic<bool> value_;
};

/// Assertions of the user (MPI 5.0, 7.4.4), as info keys mpi_assert_*.
struct Hints {
    Flag no_any_tag = false;        ///< receives never use MPI_ANY_TAG
    Flag no_any_source = false;     ///< receives never use MPI_ANY_SOURCE
    Flag exact_length = false;      ///< messages have the length of their receives
    Flag allow_overtaking = false;  ///< messages may be matched in any order
};

/// Memory that the ranks share for blocking collectives, as this rank sees it (coll/shared_scratch.hpp).
struct SharedScratch {
    bool known = false;           ///< whether there is any
    std::uint32_t halves = 0;     ///< uses of its halves so far
    std::byte* memory = nullptr;  ///< where it is mapped; nullptr: there is none, or none yet
    node::Stage stage;
    std::shared_ptr<const platform::Mapping> mapping;  ///< of a stage that is a segment
    std::uint64_t turn = 0;                            ///< the last turn that a call has taken
    std::uint64_t room = 0;               ///< the last turn whose slots are known to be free
    std::int32_t place = 0, places = 0;   ///< of this rank, among those that share it
    const std::int32_t* ranks = nullptr;  ///< at these places; nullptr: all of the communicator
};

/// Which of its ranks are on one node (objects/nodes.hpp).
struct Nodes;

/// Fields above the line are read by every message, and written only while the communicator is made,
/// hints excepted.
struct Communicator : core::Object {
    std::uint32_t context = 0;  ///< of point-to-point; collectives use context + 1
    std::int32_t rank = 0;      ///< of this process, in the local group
    std::int32_t peers = 0;     ///< size of the group that messages go to (the remote one, if any)
    const std::int32_t* processes = nullptr;  ///< rank in that group -> number of the process
    Hints hints;                              ///< written by MPI_Comm_set_info, too
    // ----
    Communicator* next = nullptr;
    Group* group = nullptr;   ///< local group, counted
    Group* remote = nullptr;  ///< of an intercommunicator, counted; nullptr: intracommunicator
    bool is_first =
        true;  ///< of an intercommunicator: the local group, in the order of participants
    std::atomic<Communicator*> local{nullptr};  ///< see local_communicator(); counted
    Session* session = nullptr;        ///< that it comes from, counted; nullptr: the world model
    Errhandler* errhandler = nullptr;  ///< counted; guarded by the process's set-up lock
    MPI_Comm handle = MPI_COMM_NULL;   ///< what the user calls it
    std::string name;                  ///< guarded likewise
    Attributes attributes;             ///< guarded likewise
    std::shared_ptr<p2p::BsendBuffer> buffer;  ///< MPI_Comm_attach_buffer; guarded likewise
    std::shared_ptr<const topo::Topology>
        topology;  ///< or none; set while the communicator is made
    std::uint32_t collectives =
        0;  ///< nonblocking and persistent ones so far: their tags, one thread at a time
    std::uint32_t calls = 0;       ///< collective calls so far, of all kinds; likewise
    SharedScratch scratch;         ///< likewise
    std::shared_ptr<Nodes> nodes;  ///< nullptr: nobody has asked yet

    std::int32_t size() const noexcept { return group->size(); }
};

/// Whose error handler a failed request is raised by: nullptr if it belongs to none, or to one that is gone.
inline Communicator* live(Communicator* communicator) noexcept {
    return communicator != nullptr && communicator->is(core::Kind::communicator) ? communicator
                                                                                 : nullptr;
}

/// Before its ranks have agreed on scratch memory, which ranks of several nodes never do: they have none.
SharedScratch unknown_scratch(const Process& process, const Group& group) noexcept;

/// A communicator of `group`, and `remote` for an intercommunicator, whose references it takes over,
/// with the error handler of `parent` and one reference: the handle's. Throws std::bad_alloc.
Communicator& make_communicator(Process& process, const Communicator& parent, std::uint32_t context,
                                Group& group, Group* remote = nullptr);
/// The intracommunicator of the local group of an intercommunicator, for what a collective does within
/// it: with contexts of its own, made when it is first asked for, by this process alone. It lives as long
/// as the intercommunicator, and errors on it are that one's. Throws std::bad_alloc.
Communicator& local_communicator(Process& process, Communicator& inter);
/// Gives back the memory for collectives that it has.
void leave_scratch(const Process& process, Communicator& communicator) noexcept;
/// The process that has this rank among the peers; -1: there is none, or the communicator is gone. Also for who does
/// not hold a reference: operations on their way name communicators that are freed meanwhile.
std::int32_t process_named_by(const Communicator& communicator, std::int32_t rank) noexcept;
/// Writes down the communicator of a context of point-to-point messages: its name, the size of the group that
/// messages go to, and who the peer is, which the event names by its rank, or `number` by its number. Nothing of that
/// if there is none. For threads that have slept for long: all communicators are looked through.
void tell_communicator(Process& process, std::uint32_t context, node::AwaitedEvent& event,
                       std::int32_t number = -1) noexcept;
/// Drops a reference; the last one destroys.
void drop(Process& process, Communicator& communicator) noexcept;
/// Makes the handle invalid, and drops its reference.
void close_handle(Process& process, Communicator& communicator) noexcept;

/// Takes the hints that it understands from `info`; a hint that is absent stays as it is.
void apply_hints(Communicator& communicator, const Info& info);
/// The hints in effect, for MPI_Comm_get_info.
void report_hints(const Communicator& communicator, Info& info);

}  // namespace heddle::objects
