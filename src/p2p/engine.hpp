// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Point-to-point messages of one process: the parts, and how they are wired.
///
/// base()         the base of all: instances, requests, locks. p2p/base.hpp
/// sender()       sending: protocols, the data path of a send, rings of payload. p2p/sender.hpp
/// receiver()     receiving: the data path of a receive, matching, delivery. p2p/receiver.hpp
/// unexpected()   messages that no receive waits for. p2p/unexpected.hpp
/// any_tag()      receives with MPI_ANY_TAG, and the order that they ask for. p2p/any_tag.hpp
/// probes()       p2p/probes.hpp
/// polling()      progress, and conditions of waiting threads. p2p/polling.hpp, progress/wait.hpp
/// far()          messages to and from other nodes and jobs. p2p/far/far.hpp
/// recipes()      sending and matching in other recipes. p2p/laboratory/recipes.hpp
/// threads()      the threads of the program, and their cores. p2p/program_threads.hpp
///
/// Each function left here looks at several parts: counters, contexts in use, lost peers, returned
/// memory.
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
#include "p2p/far/far.hpp"
#include "p2p/hot_rings.hpp"
#include "p2p/laboratory/recipes.hpp"
#include "p2p/messages.hpp"
#include "p2p/payload/large_copy.hpp"
#include "p2p/payload/payload_rings.hpp"
#include "p2p/polling.hpp"
#include "p2p/pressure.hpp"
#include "p2p/probes.hpp"
#include "p2p/program_threads.hpp"
#include "p2p/protocols/protocol.hpp"
#include "p2p/receiver.hpp"
#include "p2p/report/contention.hpp"
#include "p2p/report/unexpected_notice.hpp"
#include "p2p/requests/endings.hpp"
#include "p2p/sender.hpp"
#include "p2p/unexpected.hpp"
#include "tool/events.hpp"
#include "tool/settings.hpp"

namespace heddle::p2p {

class Engine {
public:
    using Instances = instance::Instances;

    /// `node` is shared with the processes whose numbers are below numbers.here().
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
    /// Returns the operations that must end before MPI is left, although no thread waits for their
    /// requests.
    Endings& endings() noexcept { return endings_; }
    core::Arena<match::Message>& messages() noexcept { return messages_.arena(); }
    /// Returns access to the memory of other processes, as far as the kernel allows.
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

    // --- instances ---

    std::size_t instances() const noexcept { return base_.pool.size(); }
    Instances instance_of(const core::Request& request) const noexcept {
        return request.any_tag ? instance::all : Instances{1} << request.instance;
    }
    /// Returns the instances by which the request's message is likely to come.
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

    /// Starts the use of a network before the first message to another node, once, from any thread.
    /// From then on all polls look there, too.
    void use_network(Network& network) noexcept;
    /// Sets the listener for processes of other jobs and for letters, which no communicator
    /// carries. Called before there are threads.
    void use_guest_listener(GuestListener& listener) noexcept { base_.guest_listener = &listener; }
    /// Fails operations that only that lost process could complete. Called without locks held.
    void fail_operations_with(core::Thread& thread, std::int32_t process);
    /// Returns the contexts of receives and messages that are posted or kept here, or were coming
    /// before the call.
    BusyContexts busy_contexts(core::Thread& thread);
    /// Forgets contexts before another communicator gets one of them.
    void forget(const std::vector<std::uint32_t>& contexts);
    /// Forgets messages of this context that wait for room. No process needs them any more.
    void drop_blocked(core::Thread& thread, std::uint32_t context);
    /// give_memory_back(): gives back memory of arenas, and of messages that no process in the
    /// world received. The process has been closed. bind_rings_again(): follows when it is opened
    /// again; the node's rings may be mapped elsewhere. Returns false if a ring to another process
    /// cannot be mapped (errno).
    void give_memory_back(core::Thread& thread);
    bool bind_rings_again();
    /// Ends the recording of HEDDLE_RECORD. Returns an empty string, or the fault of the file as a
    /// sentence.
    std::string close_recording();

    // --- threads ---

    /// Takes back free memory that the thread, which has ended, keeps.
    void empty_pools(core::Thread& thread) noexcept { messages_.drain(thread); }
    /// Returns the value for core::Thread::exact_tags_from.
    std::int32_t exact_tags_from() const noexcept;
    /// Returns whether a call is one critical section, or code of the library to a race detector
    /// (api/entry.hpp).
    bool calls_are_sections() const noexcept;

    // --- counters ---

    /// Returns the counters of instances and of the engine. Threads have counters of their own.
    tool::Values counted();
    /// Returns the counters of one instance.
    tool::Values counted_by(std::size_t instance);
    /// Returns the pairs that threads waited for each other about: an entry for each instance and
    /// envelope.
    std::vector<Contention> contended();
    std::uint64_t counted_for(const core::Thread& thread, tool::CounterIndex which);
    /// Adds the counters of communicators (tool/communicators.def), for one context. Takes the
    /// locks of instances, one after the other.
    void add_counted_in(tool::Values& values, std::uint32_t context);

private:
    void agree_on_fences();
    void fail_sends_to(ProgressCall& call, std::int32_t process);
    static void fail_request(ProgressCall& call, core::Request& request) noexcept;
    void free_kept_of_world(instance::LockedInstance instance);

    // Each part names the others that it calls. They are all set before the first call.
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
