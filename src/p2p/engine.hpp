// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Point-to-point messages of one process: the parts, and how they are wired.
///
/// base()         what all of them stand on: instances, requests, locks. p2p/base.hpp
/// sender()       the way out: protocols, the data path of a send, rings of payload. p2p/sender.hpp
/// receiver()     the way in: the data path of a receive, matching, delivery. p2p/receiver.hpp
/// unexpected()   messages that no receive waits for. p2p/unexpected.hpp
/// any_tag()      receives with MPI_ANY_TAG, and the order that they ask for. p2p/any_tag.hpp
/// probes()       p2p/probes.hpp
/// polling()      progress, and what a thread that waits asks. p2p/polling.hpp, progress/wait.hpp
/// far()          messages to and from other nodes and jobs. p2p/far.hpp
/// recipes()      sending and matching in recipes of the laboratory. p2p/recipes.hpp
/// threads()      the threads of the program, and their cores. p2p/program_threads.hpp
///
/// Of what is left here each function looks at several parts: counters, contexts that are in use, peers that are lost, memory
/// that is given back.
///
/// Thread safety  every public function from any thread, with that thread's own Thread.

#include <cstdint>
#include <string>
#include <vector>

#include "core/thread.hpp"
#include "launch/numbering.hpp"
#include "p2p/any_tag.hpp"
#include "p2p/backlog.hpp"
#include "p2p/base.hpp"
#include "p2p/busy_contexts.hpp"
#include "p2p/contention.hpp"
#include "p2p/endings.hpp"
#include "p2p/far.hpp"
#include "p2p/hot_rings.hpp"
#include "p2p/large_copy.hpp"
#include "p2p/messages.hpp"
#include "p2p/payload_rings.hpp"
#include "p2p/polling.hpp"
#include "p2p/pressure.hpp"
#include "p2p/probes.hpp"
#include "p2p/program_threads.hpp"
#include "p2p/protocols/protocol.hpp"
#include "p2p/receiver.hpp"
#include "p2p/recipes.hpp"
#include "p2p/sender.hpp"
#include "p2p/unexpected.hpp"
#include "p2p/unexpected_notice.hpp"
#include "tool/events.hpp"
#include "tool/settings.hpp"

namespace heddle::p2p {

class Engine {
public:
    using Instances = instance::Instances;

    /// `node`: shared with the processes whose numbers are below numbers.here().
    Engine(const node::Node& node, const launch::Numbering& numbers,
           core::Arena<core::Request>& requests, const tool::Settings& settings);
    ~Engine();
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;

    Base& base() noexcept { return base_; }
    const Base& base() const noexcept { return base_; }
    Requests& requests() noexcept { return base_.requests; }
    const Requests& requests() const noexcept { return base_.requests; }
    Sender& sender() noexcept { return sender_; }
    Receiver& receiver() noexcept { return receiver_; }
    Probes& probes() noexcept { return probes_; }
    Unexpected& unexpected() noexcept { return unexpected_; }
    Polling& polling() noexcept { return polling_; }
    Far& far() noexcept { return far_; }
    Recipes& recipes() noexcept { return recipes_; }
    ProgramThreads& threads() noexcept { return threads_; }
    /// What must have ended before MPI is left, and has no request that anybody waits for.
    Endings& endings() noexcept { return endings_; }
    core::Arena<match::Message>& messages() noexcept { return messages_.arena(); }
    /// The memory of other processes, as far as the kernel allows.
    PeerMemory& peer_memory() noexcept { return copies_.peer_memory(); }

    // --- the data paths ---

    [[gnu::always_inline]] core::Request* start_send(core::Thread& thread,
                                                     const Outbound& message) {
        return sender_.start(base_, thread, message);
    }
    [[gnu::always_inline]] core::Request* start_receive(core::Thread& thread,
                                                        const Inbound& inbound) {
        return receiver_.start(base_, thread, inbound);
    }

    // --- which instances ---

    std::size_t instances() const noexcept { return base_.pool.size(); }
    Instances instance_of(const core::Request& request) const noexcept {
        return request.any_tag ? instance::all : Instances{1} << request.instance;
    }
    /// Those by which its message is likely to come.
    Instances likely_instances_of(const core::Request& request) const noexcept {
        if (request.any_tag) [[unlikely]]
            return any_tag_.likely_instances(request);
        return Instances{1} << request.instance;
    }
    std::uint8_t instance_of(std::uint32_t context, std::int32_t tag) const noexcept {
        return base_.pool.home_of(context, tag);
    }
    Instances instance_of(const match::Pattern& pattern) const noexcept {
        return pattern.tag == match::any_tag
            ? instance::all
            : Instances{1} << base_.pool.home_of(pattern.context, pattern.tag);
    }

    // --- the life of a process ---

    /// Before the first message to another node, once, from any thread. Everything that polls looks there, too, from then on.
    void use_network(Network& network) noexcept;
    /// Who hears of processes of other jobs, and of letters, beside what is said in communicators. Before there are threads.
    void use_guest_listener(GuestListener& listener) noexcept { base_.guest_listener = &listener; }
    /// What only that process could complete fails, as it is lost. Without locks held.
    void fail_operations_with(core::Thread& thread, std::int32_t process);
    /// In which contexts anything is posted or kept here, or on its way here from before the call.
    BusyContexts busy_contexts(core::Thread& thread);
    /// Before another communicator gets one of the contexts.
    void forget(const std::vector<std::uint32_t>& contexts);
    /// Forgets messages of this context that wait for room: nobody needs them any more.
    void drop_blocked(core::Thread& thread, std::uint32_t context);
    /// When the process has been closed: gives back what messages hold that nobody in the world received, and
    /// the memory of arenas. It is opened again with the node's rings mapped, perhaps elsewhere; false if a ring to
    /// another process cannot be (errno).
    void give_memory_back(core::Thread& thread);
    bool bind_rings_again();
    /// Ends what HEDDLE_RECORD has asked for. Empty, or what is wrong with the file, as a sentence.
    std::string close_recording();

    // --- threads ---

    /// Takes back what the thread, which has ended, keeps of free memory.
    void empty_pools(core::Thread& thread) noexcept { messages_.drain(thread); }
    /// For core::Thread.
    std::int32_t exact_tags_from() const noexcept;
    /// Whether a call is one critical section, or code of the library to a race detector (api/entry.hpp).
    bool calls_are_sections() const noexcept;

    // --- counters ---

    /// What is counted by instances and by the engine; what its threads count is theirs.
    tool::Values counted();
    /// What is counted by one instance.
    tool::Values counted_by(std::size_t instance);
    /// What threads waited for each other about, a line for each instance and envelope.
    std::vector<Contention> contended();
    std::uint64_t counted_for(const core::Thread& thread, tool::CounterIndex which);
    /// What is counted by communicators (tool/communicators.def), for one context. Takes the locks of
    /// instances, one after the other.
    void add_counted_in(tool::Values& values, std::uint32_t context);

private:
    void agree_on_fences();
    void fail_sends_to(ProgressCall& call, std::int32_t process);
    static void fail_request(ProgressCall& call, core::Request& request) noexcept;
    void free_kept_of_world(instance::LockedInstance instance);

    // Each names the others that it asks; what they are is set before any of them is asked for anything.
    Base base_;
    Messages messages_;
    const Parts parts_{base_, messages_, sender_, copies_, far_};
    Pressure pressure_;
    AnnouncedSends announced_;
    Endings endings_;
    const MessageOffers offers_;
    ProgramThreads threads_;
    Backlog backlog_;
    PayloadRings payload_rings_;
    LargeCopy copies_;
    Unexpected unexpected_;
    UnexpectedNotice unexpected_notice_;
    HotRings rings_;
    Sender sender_;
    Receiver receiver_;
    AnyTag any_tag_;
    Far far_;
    Recipes recipes_;
    Polling polling_;
    Probes probes_;
};

}  // namespace heddle::p2p
