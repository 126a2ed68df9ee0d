// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Returns context ids of freed communicators to their owners (objects/contexts.hpp).
///
/// An id may be used again when no message that carries it can be matched any more, in any process.
/// Every process of the old communicator checks this, in three steps. Each is a message through a
/// context of the library:
///
///   left     a member's communicator is gone (its last reference, not only its handle). The member
///            sends nothing more with this id. It says so to the owner.
///   look     when all members have left, the owner asks each of them to look. Every message with
///            the id was sent before its sender left, and the owner knew that before it asked. So
///            the message is in a ring to the member, blocked at its sender, which has said so, or
///            delivered. To members of other nodes it has been delivered. A process says that it
///            has left when these have taken over what it sent until then (p2p::Network, mark()).
///   found    the member has emptied its rings. It has looked through its queues with all instances
///            locked (Engine::busy_contexts). It answers for which of the ids there is nothing.
///
/// When all have found nothing, the owner may give the id away again. A member may find a posted
/// receive, or a message that no process received. Then the owner asks again later, and after
/// `most_looks` times keeps the id out of use.
///
/// Contract       a thread that will still send with the context of a communicator holds a
///                reference to it. Matched messages no longer need the id: control messages name
///                requests.
/// Local          MPI_Comm_free notes the id (objects::FreedContexts), and returns. Messages are
///                sent in batches. Calls that make communicators call step(), which answers them:
///                no call waits for this. A process may never free a communicator, or never make
///                another. It then withholds the ids of communicators it was in, and no other ids.
/// Thread safety  step() from any thread without locks held. One does the work, others do not wait
///                for it.

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

    /// Tells that the job is on several nodes. Called before the first step().
    void use_network(p2p::Network& network) noexcept { network_ = &network; }

    /// Sends the entries that have gathered, and answers the messages that have come.
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
        std::vector<std::int32_t> members;  ///< members that have left
        std::int32_t looks = 0;             ///< times that all have been asked
        std::int32_t missing = 0;           ///< answers that are still missing
        bool empty = true;                  ///< true if every answer so far says so
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

    std::mutex lock_;  ///< guards all fields below
    ByOwner left_;     ///< to be sent
    ByOwner leaving_;  ///< to be sent, once the earlier messages have been taken over
    p2p::Network* network_ = nullptr;
    std::shared_ptr<p2p::BsendBuffer> letters_;  ///< pending ones
    std::unordered_map<std::uint32_t, Departure> departures_;
    std::vector<std::uint32_t> ready_;  ///< all members have left, and are to be asked
    std::size_t asked_ = 0;  ///< ids whose members have been asked and have not all answered
};

}  // namespace heddle::comm
