// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Context ids of freed communicators come back to their owners (objects/contexts.hpp).
///
/// An id may be used again when no message that carries it can be matched any more, anywhere. Every process
/// of the old communicator sees to that, in three steps, each a message through a context of the library:
///
///   left     a member's communicator is gone (its last reference, not only its handle): the member
///            sends nothing more with this id. It says so to the owner.
///   look     when all members have left, the owner asks each of them to look. All that was ever sent
///            with the id was sent before the sender left, which the owner knew before it asked: it is in
///            a ring to the member, blocked at its sender, which the sender has said, or delivered.
///            To members of other nodes it has been delivered: a process says that it has left when all of
///            them have taken over what it had sent until then (p2p::Network, mark()).
///   found    the member has emptied its rings and looked through its queues with all instances locked
///            (Engine::busy_contexts), and answers for which of the ids there is nothing.
///
/// When all have found nothing, the id is the owner's to give away again. Where somebody has found
/// something, a receive that is still posted, a message that nobody received, the owner asks again some
/// other time, and after `most_looks` times keeps the id out of use.
///
/// Contract       who still will send with the context of a communicator holds a reference to it.
///                Matched messages are beyond the id: control messages name requests.
/// Local          MPI_Comm_free notes what is gone (objects::FreedContexts), and returns. Messages are sent
///                in batches, and answered by calls that make communicators, which call step(): no call waits for this.
///                A process that never frees, or never makes another communicator, withholds the ids
///                that it had part in, and nobody else's.
/// Thread safety  step() from any thread without locks held; one does the work, others do not wait for it.

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "core/thread.hpp"
#include "objects/contexts.hpp"

namespace heddle::p2p {
class BsendBuffer;
class Network;
}  // namespace heddle::p2p

namespace heddle::comm {

class Recycling {
public:
    Recycling(objects::Contexts& contexts, objects::FreedContexts& freed, std::int32_t rank);
    ~Recycling();

    /// The job is on several nodes. Before the first step().
    void use_network(p2p::Network& network) noexcept { network_ = &network; }

    /// Sends what has gathered, and answers what has come.
    void step(core::Thread& thread);

private:
    static constexpr std::size_t batch = 32;
    static constexpr std::int32_t most_looks = 16;

    enum class Kind : std::uint32_t { left, look, found };
    struct Entry {
        std::uint32_t context;
        std::int32_t value;  ///< left: members; found: 1 if there is nothing
    };
    struct Letter {
        Kind kind;
        std::uint32_t count;
        Entry entries[batch];
    };
    /// An id of this process that members have left.
    struct Departure {
        std::vector<std::int32_t> members;  ///< who has
        std::int32_t looks = 0;             ///< how often all have been asked
        std::int32_t missing = 0;           ///< answers, while they are asked
        bool empty = true;                  ///< says every answer so far
    };

    void send(core::Thread& thread, std::int32_t to, Kind kind, const std::vector<Entry>& entries);
    void post(core::Thread& thread, std::int32_t to, const Letter& letter);
    void collect(core::Thread& thread);
    using ByOwner = std::map<std::int32_t, std::vector<Entry>>;
    ByOwner take_batches();
    bool receive(core::Thread& thread, std::int32_t& from, Letter& letter);
    void handle(core::Thread& thread, std::int32_t from, const Letter& letter);
    void note_departure(std::int32_t from, const Entry& entry);
    void look(core::Thread& thread, std::int32_t owner, const Letter& letter);
    void note_found(const Entry& entry);
    void ask(core::Thread& thread);

    objects::Contexts& contexts_;
    objects::FreedContexts& freed_;
    const std::int32_t rank_;

    std::mutex lock_;  ///< guards what follows
    ByOwner left_;     ///< to be sent
    ByOwner leaving_;  ///< likewise, when what was sent before has been taken over
    p2p::Network* network_ = nullptr;
    std::shared_ptr<p2p::BsendBuffer> letters_;  ///< on their way
    std::unordered_map<std::uint32_t, Departure> departures_;
    std::vector<std::uint32_t> ready_;  ///< all members have left, and are to be asked
    std::size_t asked_ = 0;  ///< ids whose members have been asked and have not all answered
};

}  // namespace heddle::comm
