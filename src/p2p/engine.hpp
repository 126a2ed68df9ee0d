// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Point-to-point messages of one process: protocols on top of instances, matching and rings.
///
/// The way out    start_send() chooses the protocol; post() is the data path. engine_send.cpp
/// The way in     start_receive() posts; progress drains rings, matches, delivers, completes.
///                engine_receive.cpp, engine_progress.cpp
/// No room        p2p/backlog.hpp
/// Large ones     sent through a ring of payload: engine_stream.cpp; how they are received: p2p/large_copy.hpp
/// Wildcards      receives and probes with MPI_ANY_TAG. engine_order.cpp; where one instance is enough: engine_homes.cpp
/// Recipes        other than the default one. engine_laboratory.cpp
/// Far ones       messages to and from processes of other nodes. engine_far.cpp; and accesses to their windows.
///                engine_access.cpp
/// Cancelling     receives that wait, and sends that nobody has matched. engine_cancel.cpp, p2p/message_offers.hpp
/// Contexts       which are still in use here, before one is used again. engine_busy.cpp
/// Waiting        progress/wait.hpp, through the functions under "for waiting". For messages to be probed:
///                p2p/watchers.hpp; for the end of what has no request: p2p/endings.hpp
///
/// Thread safety  every public function from any thread, with that thread's own Thread.

#include <atomic>
#include <bit>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/thread.hpp"
#include "instance/pool.hpp"
#include "launch/numbering.hpp"
#include "match/context_classes.hpp"
#include "match/message.hpp"
#include "match/recording.hpp"
#include "p2p/announced_sends.hpp"
#include "p2p/backlog.hpp"
#include "p2p/busy_contexts.hpp"
#include "p2p/contention.hpp"
#include "p2p/deferred.hpp"
#include "p2p/endings.hpp"
#include "p2p/far_access.hpp"
#include "p2p/guest_listener.hpp"
#include "p2p/homes.hpp"
#include "p2p/idle_rings.hpp"
#include "p2p/laboratory.hpp"
#include "p2p/large_copy.hpp"
#include "p2p/message_offers.hpp"
#include "p2p/node_cores.hpp"
#include "p2p/outbound.hpp"
#include "p2p/payload.hpp"
#include "p2p/payload_rings.hpp"
#include "p2p/pressure.hpp"
#include "p2p/progress_call.hpp"
#include "p2p/protocol.hpp"
#include "p2p/watchers.hpp"
#include "p2p/wildcards.hpp"
#include "platform/cpu.hpp"
#include "platform/sanitizers.hpp"
#include "progress/lot.hpp"
#include "progress/peer.hpp"
#include "sync/claims.hpp"
#include "sync/covered_fence.hpp"
#include "sync/lone_thread.hpp"
#include "tool/events.hpp"
#include "tool/settings.hpp"
#include "transport/shm/node.hpp"

namespace heddle::objects {
struct Session;
}
namespace heddle::p2p {

class BsendBuffer;
class Network;
class NodeWorker;

/// A receive to be posted.
struct Inbound {
    match::Pattern pattern;
    bool allow_overtaking;
    std::byte* data;
    std::uint64_t bytes;
    objects::Communicator* communicator;
    objects::Datatype* layout = nullptr;  ///< of the data; nullptr: dense
    sync::Slot* waiter =
        nullptr;  ///< hears of its completion (p2p/listener.hpp); nobody waits for it
};

class Engine {
public:
    /// `node`: shared with the processes whose numbers are below numbers.here().
    Engine(const transport::shm::Node& node, const launch::Numbering& numbers,
           core::Arena<core::Request>& requests, tool::Settings settings);
    ~Engine();
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;

    // --- sending ---

    /// Starts a send. The answer is completed_send() if it is already over, which holds nothing, or
    /// a request to wait for and free; nullptr when memory has run out.
    [[gnu::always_inline]] core::Request* start_send(core::Thread& thread,
                                                     const Outbound& message) {
        if (message.bytes < inline_below_ && message.process != rank_ && message.layout == nullptr)
            [[likely]] {
            instance::Instance& instance = pool_.of(message.envelope.context, message.envelope.tag);
            if (post<1>(thread, instance, message, MessageKind::eager, nullptr, 0) == Post::done)
                [[likely]]
                return &completed_send_;
        }
        return start_send_slowly(thread, message.envelope.context, message.envelope.source,
                                 message.envelope.tag, message.process, message.data,
                                 {message.bytes, message.layout}, message.how,
                                 message.communicator);
    }
    /// The same; complete only when the message has been matched.
    core::Request* start_synchronous_send(core::Thread& thread, const Outbound& message) {
        return start_send_slowly(thread, message.envelope.context, message.envelope.source,
                                 message.envelope.tag, message.process, message.data,
                                 {message.bytes, message.layout}, Sending::synchronous,
                                 message.communicator);
    }
    core::Request& completed_send() noexcept { return completed_send_; }
    /// Whether everything has left the library's buffer for standard sends. Heard of by Endings::tell().
    bool send_buffer_is_empty() const;
    /// The memory of other processes, as far as the kernel allows.
    PeerMemory& peer_memory() noexcept { return copies_.peer_memory(); }
    /// Takes a send back, and completes it, unless it is complete or has been matched.
    void cancel_send(core::Thread& thread, core::Request& send);

    // --- processes of other nodes ---

    /// Before the first message to one of them, once, from any thread. Everything that polls looks there, too, from then on.
    void use_network(Network& network) noexcept;
    Network* network() const noexcept { return network_.load(acquire); }  // A2: pairs with R2
    /// Threads of this process that sleep, or are about to.
    std::uint32_t sleepers() const noexcept { return sleepers_.load(relaxed); }
    bool is_far(std::int32_t process) const noexcept { return process >= here_; }
    /// Progress by the thread that sleeps for all (p2p/network_worker.hpp); true if there was any.
    bool poll_network_surely(core::Thread& thread);
    /// A thread is going to sleep until that request is complete: should it be a receive from one of them, its silence
    /// is a fault from now on, also if nothing has ever been sent there.
    void watch_sender(const core::Request& request) noexcept {
        if (network() != nullptr) [[unlikely]]
            watch_far_sender(request);
    }
    /// Silence of that process, of another node or job, is a fault from now on.
    void watch(std::int32_t process) noexcept;
    /// Whether everything that was sent there has been taken over. After it has first been asked, peers may go.
    bool is_drained();

    // Accesses to memory of windows there (p2p/far_access.hpp). What sends throws std::bad_alloc, and has sent nothing
    // then.

    /// Who hears what is asked about the window with this context.
    FarListeners& far_listeners() noexcept { return far_listeners_; }
    std::uint64_t most_far_payload() const noexcept;
    /// `completes` is done once the data may be changed.
    void ask_far(ProgressCall& call, const Outbound& message, const AccessFields& fields,
                 core::Request* completes);
    /// To a request of that process: data from fields.offset on; or no more than fits behind the fields.
    void answer_far(ProgressCall& call, std::int32_t process, const DataFields& fields, Shape shape,
                    const std::byte* data, core::Request* completes);
    void answer_briefly(ProgressCall& call, std::int32_t process, std::uint64_t receiver,
                        const void* data, std::uint64_t bytes);
    static constexpr std::uint64_t brief =
        transport::shm::inline_payload - sizeof(DataFields);  ///< bytes, at most
    void acknowledge_far(ProgressCall& call, std::int32_t process, std::uint64_t receiver);
    void refuse_far(ProgressCall& call, std::int32_t process, const RefusedFields& fields);

    // --- processes of other jobs, and letters to those of this one ---

    /// Who hears of them, beside what is said in communicators. Before there are threads.
    void use_guest_listener(GuestListener& listener) noexcept { guest_listener_ = &listener; }
    /// What only that process could complete fails, as it is lost. Without locks held.
    void fail_operations_with(core::Thread& thread, std::int32_t process);
    /// Throws std::bad_alloc, and has sent nothing then.
    void send_letter(core::Thread& thread, std::int32_t process, const LetterFields& letter);
    void send_letter(ProgressCall& call, std::int32_t process, const LetterFields& letter);

    // --- receiving ---

    /// Posts a receive. The answer is to be waited for and freed; nullptr when memory has run out.
    [[gnu::always_inline]] core::Request* start_receive(core::Thread& thread,
                                                        const Inbound& inbound) {
        core::Request* receive = new_receive(thread, inbound);
        if (receive == nullptr) [[unlikely]]
            return nullptr;
        if (receive->any_tag) [[unlikely]]
            return post_slowly(thread, *receive, inbound.allow_overtaking);
        instance::Instance& instance = pool_.of(inbound.pattern.context, inbound.pattern.tag);
        receive->instance = instance.number;
        lock(instance, inbound.pattern);
        match::Message* message = instance.matcher.standard.post(*receive, inbound.pattern);
        if (message != nullptr) [[unlikely]]
            return consume_taken(thread, instance, *receive, *message);
        instance.lock.unlock();
        return receive;
    }
    /// Takes a posted receive back; false if it was matched before.
    bool cancel_receive(core::Thread& thread, core::Request& receive);

    /// The first message that the pattern accepts, left where it is; false if there is none.
    bool probe(core::Thread& thread, const match::Pattern& pattern, bool in_order,
               core::Outcome& found);
    /// The same, taken out for receive_matched(); nullptr if there is none.
    match::Message* take_probed(core::Thread& thread, const match::Pattern& pattern, bool in_order,
                                core::Outcome& found);
    core::Request* receive_matched(core::Thread& thread, match::Message& message,
                                   const Inbound& receive);
    core::Arena<match::Message>& messages() noexcept { return messages_; }
    bool is_message(const void* handle) const noexcept { return messages_.contains(handle); }

    /// In which contexts anything is posted or kept here, or on its way here from before the call.
    BusyContexts busy_contexts(core::Thread& thread);
    /// Before another communicator gets one of the contexts.
    void forget(const std::vector<std::uint32_t>& contexts);

    /// Threads that probe, and are told of what is kept as unexpected.
    Watchers& watchers() noexcept { return watchers_; }

    /// When the process has been closed: gives back what messages hold that nobody in the world received, and
    /// the memory of arenas. It is opened again with the node's rings mapped, perhaps elsewhere; false if a ring to
    /// another process cannot be (errno).
    void give_memory_back(core::Thread& thread);
    bool bind_rings_again();

    /// Ends what HEDDLE_RECORD has asked for. Empty, or what is wrong with the file, as a sentence.
    std::string close_recording();

    // --- counters ---

    /// What is counted by instances and by the engine; what its threads count is theirs.
    tool::Values counted();
    std::size_t instances() const noexcept { return pool_.size(); }
    /// What is counted by one instance.
    tool::Values counted_by(std::size_t instance);
    /// What threads waited for each other about, a line for each instance and envelope.
    std::vector<Contention> contended();
    std::uint64_t counted_for(const core::Thread& thread, tool::CounterIndex which);
    /// What is counted by communicators (tool/communicators.def), for one context. Takes the locks of
    /// instances, one after the other.
    void add_counted_in(tool::Values& values, std::uint32_t context);

    // --- requests ---

    [[gnu::always_inline]] core::Request* take_request(core::Thread& thread,
                                                       sync::Slot* waiter = nullptr) noexcept {
        core::Request* request = thread.requests.take(requests_);
        if (request == nullptr) [[unlikely]]
            return nullptr;
        request->done.store(false, relaxed);
        // R3 of p2p/listener.cpp, after `done`: a completer that is late finds the request not complete.
        request->waiter.store(waiter, release);
        sync::Claims::mark(thread.claims, request->claimable);
        return request;
    }
    void free_request(core::Thread& thread, core::Request& request) noexcept {
        if (request.immortal) return;
        if (request.laid_out) [[unlikely]]
            drop_layout(thread, request);
        request.kind.store(core::Kind::none, relaxed);
        thread.requests.give(request, requests_);
    }
    /// True for one of the threads that complete or free copies of the same handle.
    [[nodiscard, gnu::always_inline]] bool claim(core::Thread& thread,
                                                 core::Request& request) noexcept {
        return claims_.claim(thread.claims, request.claimable);
    }
    sync::Claims& claims() noexcept { return claims_; }
    static void drop_layout(core::Thread& thread, core::Request& request) noexcept;
    /// Frees a complete one of any kind.
    void free_completed(core::Thread& thread, core::Request& request) noexcept;
    /// What must have ended before MPI is left, and has no request that anybody waits for.
    Endings& endings() noexcept { return endings_; }
    /// Whether there is a request at that address, free or in use.
    bool is_request(const void* handle) const noexcept {
        return is_usual_request(handle) || requests_.in_later(handle);
    }
    /// The same without those that are there only while there are very many.
    bool is_usual_request(const void* handle) const noexcept {
        return requests_.in_first(handle) || handle == &completed_send_;
    }

    /// The end of a progress call, with no lock held: what was put off while locks were.
    void finish(ProgressCall& call);
    /// Calls `part`, and finishes the progress call also where memory runs out in it: what it has matched is not lost.
    template <class Part>
    void finish_after(ProgressCall& call, Part&& part) {
        try {
            part();
        } catch (...) {
            finish(call);
            throw;
        }
        finish(call);
    }

    // --- for parts of the engine ---

    /// Tells the process at the other end of a message. Throws std::bad_alloc, and has sent nothing then.
    void control(ProgressCall& call, std::uint8_t instance, std::int32_t process, MessageKind kind,
                 const void* fields, std::uint32_t bytes);
    /// A send whose payload was still to be taken: it was not wanted, or is there.
    void complete_announced(ProgressCall& call, core::Request& send) noexcept;

    // --- for waiting (progress/wait.hpp) ---

    using Instances = instance::Instances;
    static constexpr Instances all = ~Instances{0};

    Instances instance_of(const core::Request& request) const noexcept {
        return request.any_tag ? all : Instances{1} << request.instance;
    }
    /// Those by which its message is likely to come.
    Instances likely_instances_of(const core::Request& request) const noexcept {
        if (request.any_tag) [[unlikely]]
            return likely_instances_of_any_tag(request);
        return Instances{1} << request.instance;
    }
    std::uint8_t instance_of(std::uint32_t context, std::int32_t tag) const noexcept {
        return pool_.home_of(context, tag);
    }
    Instances instance_of(const match::Pattern& pattern) const noexcept {
        return pattern.tag == match::any_tag
            ? all
            : Instances{1} << pool_.home_of(pattern.context, pattern.tag);
    }
    /// A process by its number; nothing is known of negative ones, of this one, and of those of other nodes.
    progress::Peer peer(std::int32_t process, Instances which) const noexcept {
        if (process < 0 || is_far(process) || is_self(process)) return {};
        return {node_.mailbox(static_cast<std::size_t>(process)).waits, which};
    }
    /// A thread of this process waits at these instances, and offers its core or sleeps; or does no longer.
    void tell_waits(Instances which, bool on) noexcept {
        auto& waits = node_.mailbox(static_cast<std::size_t>(rank_)).waits;
        // Relaxed: nothing depends on it.
        on ? waits.fetch_or(which, relaxed) : waits.fetch_and(~which, relaxed);
    }
    /// Progress on these instances, or the first of them that has something, and on whatever stands at the
    /// mailbox; true if there was any. Cheap when nothing came.
    bool poll(core::Thread& thread, Instances which);
    /// Progress on every instance in use.
    void poll_all(core::Thread& thread);
    /// Makes senders ring for messages to these instances; takes effect with fence_before_sleep().
    void cool(Instances which);
    /// The same for every instance, except rings that other threads have been using since the last
    /// call: true if there are such.
    bool cool_idle();
    void add_parked(Instances which, int change) noexcept;
    /// Asks for a ring of the bell when full rings have room again; likewise. Answers which instances'
    /// backlogs it has announced.
    Instances announce_backlog(core::Thread& thread) { return backlog_.announce(thread, fence_); }
    /// Orders what was announced and cooled before the last look for something to do. False: a nap is to be taken.
    bool fence_before_sleep() noexcept;
    /// After a store that other processes look at behind a light fence: the next one orders it, too.
    void uncover_fence() noexcept { fence_.uncover(); }
    /// Whether progress would find something to do, or there is a backlog besides those announced.
    bool something_to_do(core::Thread& thread, Instances announced);
    /// The same without a look at backlogs.
    bool something_came();
    /// Rings that may have been used are to be looked at when they have been idle for long (p2p/idle_rings.hpp).
    void stir_idle_rings() noexcept {
        if (idle_rings_.stir()) [[unlikely]]
            bell().ring();
    }
    /// Answers how long the leader, which has announced that it sleeps, may do so before it is asked again.
    std::chrono::nanoseconds tend_idle_rings(core::Thread& thread) noexcept {
        return idle_rings_.tend(thread);
    }
    /// The library's own thread makes progress for those of the program, which make none (p2p/node_worker.hpp); true if
    /// there was any, or some is left to be made.
    bool poll_for_program(core::Thread& thread);
    /// Has that thread started when the first large message is sent or taken while there is a spare core. nullptr: none.
    void start_with_large_messages(NodeWorker* worker) noexcept {
        to_start_.store(worker, relaxed);  // no messages are under way
    }
    /// Whether it has left something to them, since that calls functions of the program.
    bool has_left_to_program() const noexcept { return left_to_program_.load(relaxed) != nullptr; }
    /// Of the program, and the worker while it works.
    std::uint32_t threads() const noexcept { return lone_thread_.threads(); }
    sync::Doorbell& worker_bell() noexcept {
        return node_.mailbox(static_cast<std::size_t>(rank_)).worker;
    }
    /// For as long as it lives, the calling thread does not count among those of the process.
    class AsideFromProgram {
    public:
        explicit AsideFromProgram(Engine& engine) noexcept : engine_(engine) {
            engine_.count_thread(-1);
        }
        ~AsideFromProgram() { engine_.count_thread(+1); }
        AsideFromProgram(const AsideFromProgram&) = delete;
        AsideFromProgram& operator=(const AsideFromProgram&) = delete;

    private:
        Engine& engine_;
    };
    sync::Doorbell& bell() noexcept { return node_.mailbox(static_cast<std::size_t>(rank_)).bell; }
    progress::Lot& lot() noexcept { return lot_; }

    /// What a posted receive accepts; once matched, what it got.
    match::Pattern pattern_of(const core::Request& receive);
    /// Whether that process asks senders to keep payloads until they are matched (p2p/pressure.hpp).
    bool is_under_pressure(std::int32_t process) const noexcept {
        return !is_far(process) && node_.is_under_pressure(process);
    }
    bool is_self(std::int32_t process) const noexcept { return process == rank_; }

    /// Forgets messages of this context that wait for room: nobody needs them any more.
    void drop_blocked(core::Thread& thread, std::uint32_t context);
    /// Whether nothing of this process waits for room any more.
    bool all_handed_over() const noexcept {
        return backlog_.instances() == 0 && (network() == nullptr || network_is_handed_over());
    }

    /// A thread of the program has called MPI for the first time (+1), or has ended (-1).
    void count_thread(int change) noexcept;
    /// Takes back what the thread, which has ended, keeps of free memory.
    void empty_pools(core::Thread& thread) noexcept;
    /// For core::Thread.
    std::int32_t exact_tags_from() const noexcept {
        const bool watched =
            in_laboratory() || tool::matching_is_watched(settings_) || platform::races_are_sought();
        return watched ? std::numeric_limits<std::int32_t>::max() : match::any_tag + 1;
    }
    sync::locks::Visitor* visitor_for(core::Thread& thread) {
        return in_laboratory() ? laboratory_->visitor_for(thread) : nullptr;
    }
    /// Whether a call is one critical section, or code of the library to a race detector (api/entry.hpp).
    bool calls_are_sections() const noexcept {
        return platform::races_are_sought() ||
            (in_laboratory() && settings_.critical_section == tool::Granularity::global);
    }
    /// What poll() and poll_all() are to MPI_Test and its like.
    void test_in_laboratory(core::Thread& thread);
    bool in_laboratory() const noexcept { return laboratory_ != nullptr; }
    /// In a recipe of the laboratory, the instance that the thread's next operation on a window is to hold
    /// (p2p/held_instance.hpp). `context` is the window's.
    std::size_t choose_instance(const core::Thread& thread, std::uint32_t context) noexcept;
    /// What poll() is in a recipe of the laboratory.
    bool poll_in_laboratory(core::Thread& thread);

    /// Whether threads that wait take the cores from threads that have something to do.
    core::Company& company() noexcept { return company_; }
    bool short_of_cores() const noexcept { return node_cores_.are_short(); }

private:
    friend class HeldInstance;

    // engine_send.cpp
    struct Clock {
        std::uint64_t operator()() const noexcept { return platform::ordered_ticks(); }
    };
    /// Its number in a sequence, if it has one; else a stamp.
    struct Numbered {
        std::uint64_t number;
        std::atomic<std::uint64_t>*
            stamps;  ///< where the processor's counter does not order threads
        std::uint64_t operator()() const noexcept {
            if (number != 0) return number;
            // Relaxed: a thread that synchronised with another after its send gets a later one.
            return stamps == nullptr ? Clock()() : stamps->fetch_add(1, relaxed) + 1;
        }
    };
    Numbered numbered(std::uint64_t number = 0) noexcept {
        return {number, counts_stamps_ ? &stamps_ : nullptr};
    }
    /// `known_cells`: how many cells the message takes, where that is known beforehand. `stamp`: asked
    /// once there is room.
    template <std::size_t known_cells = 0, class Stamp = Clock>
    [[gnu::always_inline]] Post post(core::Thread& thread, instance::Instance& instance,
                                     const Outbound& message, MessageKind kind, const void* prefix,
                                     std::uint32_t prefix_bytes, Stamp stamp = {}) {
        const std::size_t cells = known_cells != 0
            ? known_cells
            : transport::shm::cells_for(prefix_bytes + message.bytes);
        const auto way = instance.outbox.lock(thread.token);
        instance::Channel& channel = instance.channels[message.process];
        const auto retry = [&] {
            instance.outbox.unlock(thread.token, way);
            return Post::retry;
        };
        if (!platform::has_bit(channel.open_for, message.envelope.context)) [[unlikely]]
            return retry();
        transport::shm::Cell* cell = nullptr;
        if constexpr (known_cells == 1) {
            if (!channel.ring.has_room_for_one()) [[unlikely]]
                return retry();
            cell = &channel.ring.at_tail();
        } else {
            cell = channel.ring.reserve(cells);
            if (cell == nullptr) [[unlikely]]
                return retry();
        }
        write_cells(*cell, message, kind, prefix, prefix_bytes, stamp());
        if (!is_control(kind)) count_sent(channel, kind, message.bytes, prefix);
        channel.ring.publish(*cell, cells);
        const bool cold = channel.ring.cold();
        instance.outbox.unlock(thread.token, way, [&] {
            instance.outbox_waits.note(message.envelope.context, message.envelope.tag);
        });
        if (cold) [[unlikely]]
            notify(message.process, instance);
        return Post::done;
    }
    [[gnu::cold]] void notify(std::int32_t process, const instance::Instance& instance) noexcept;
    /// Takes the message in pieces: handed over as a whole, it would have to lie in memory for the
    /// fast path, too.
    [[gnu::cold]] core::Request* start_send_slowly(core::Thread& thread, std::uint32_t context,
                                                   std::int32_t source, std::int32_t tag,
                                                   std::int32_t process, const std::byte* data,
                                                   Shape shape, Sending how,
                                                   objects::Communicator* communicator);
    core::Request* send_through_buffer(core::Thread& thread, const Outbound& message);
    core::Request* start_send_by(core::Thread& thread, instance::Instance& instance,
                                 const Outbound& message, bool synchronous, std::uint64_t number);
    void start_protocol(ProgressCall& call, instance::Instance& instance, core::Request& send,
                        const Outbound& message, std::uint64_t number);
    void send_to_self(core::Thread& thread, core::Request& send, const Outbound& message);
    /// Sends or queues; `completes` is done once the message is in the ring. `number`: in a sequence.
    void post_or_queue(instance::Instance& instance, const Outbound& message, MessageKind kind,
                       const void* prefix, std::uint32_t prefix_bytes, core::Request* completes,
                       ProgressCall& call, std::uint64_t number = 0);
    void open_channel(core::Thread& thread, instance::Instance& instance, std::int32_t process);
    void let_go_of_send(core::Thread& thread, core::Request& send) noexcept;
    transport::shm::BlockedNotice& notice_from(std::int32_t process) const noexcept {
        return node_.blocked_notice(static_cast<std::size_t>(process),
                                    static_cast<std::size_t>(rank_));
    }
    void after_queueing();
    void stream(ProgressCall& call, instance::Instance& instance, const CtsFields& fields);
    core::Request* new_send(core::Thread& thread, const instance::Instance& instance,
                            const Outbound& message, bool synchronous) noexcept;

    // engine_stream.cpp
    core::Request* send_payload(core::Thread& thread, const Outbound& message, bool synchronous);
    Post place(core::Thread& thread, instance::Instance& instance, const Outbound& message);
    void take_lines_ahead(core::Thread& thread) noexcept;
    core::Request* start_stream(core::Thread& thread, instance::Instance& instance,
                                const Outbound& message, bool synchronous);
    bool has_payload_ring(instance::Instance& instance, instance::Channel& channel,
                          std::uint64_t bytes);
    void end_send(ProgressCall& call, instance::Instance& instance, const SenderField& field);

    // engine_receive.cpp
    void pull(ProgressCall& call, const Pull& pull);
    [[gnu::always_inline]] core::Request* new_receive(core::Thread& thread,
                                                      const Inbound& inbound) noexcept {
        core::Request* receive = take_request(thread, inbound.waiter);
        if (receive == nullptr) [[unlikely]]
            return nullptr;
        receive->operation = core::Operation::receive;
        receive->context = inbound.pattern.context;
        receive->source = inbound.pattern.source;
        receive->tag = inbound.pattern.tag;
        receive->buffer = inbound.data;
        receive->capacity = inbound.bytes;
        receive->communicator = inbound.communicator;
        receive->clear_outcome();
        receive->any_tag = inbound.pattern.tag < thread.exact_tags_from;
        keep_layout(*receive, inbound.layout);
        return receive;
    }
    /// The receive that gets a message with this envelope, taken out of where it was posted. The
    /// instance is locked.
    [[gnu::always_inline]] core::Request* match(instance::Instance& instance,
                                                match::Envelope envelope) noexcept {
        if (instance.watched) [[unlikely]]
            return match_watched(instance, envelope);
        core::Request* receive = instance.matcher.standard.arrive(envelope);
        if (receive != nullptr) [[likely]]
            receive->source = envelope.source;
        return receive;
    }
    core::Request* match_with_wildcards(instance::Instance& instance,
                                        match::Envelope envelope) noexcept;
    void deliver(ProgressCall& call, instance::Instance& instance, instance::Inlet& inlet,
                 const transport::Header& header);
    void deliver_placed(ProgressCall& call, instance::Instance& instance, instance::Inlet& inlet,
                        const transport::Header& header);
    void deliver_eager(ProgressCall& call, instance::Instance& instance, std::int32_t process,
                       const transport::Header& header);
    void deliver_unplaced(ProgressCall& call, instance::Instance& instance, std::int32_t process,
                          const transport::Header& header);
    void deliver_readable(ProgressCall& call, instance::Instance& instance, std::int32_t process,
                          const transport::Header& header);
    void deliver_announced(ProgressCall& call, instance::Instance& instance, std::int32_t process,
                           const transport::Header& header);
    void deliver_control(ProgressCall& call, instance::Instance& instance, std::int32_t process,
                         const transport::Header& header);
    void receive_data(ProgressCall& call, const transport::Header& header);
    match::Message& new_message(core::Thread& thread, std::uint8_t instance, std::int32_t process,
                                const match::Envelope& envelope);
    void keep_payload(core::Thread& thread, match::Message& message, const std::byte* data,
                      Shape shape, std::size_t room = sizeof(match::Message::small));
    void keep_placed(core::Thread& thread, match::Message& message, transport::shm::Piece piece);
    match::Message& copy_of(core::Thread& thread, const transport::Header& header,
                            std::int32_t process, std::uint8_t instance);
    void keep(ProgressCall& call, instance::Instance& instance, match::Message& message);
    void take(instance::Instance& instance, match::Message& message);
    void note_taken(instance::Instance& instance, const match::Message& message);
    void consume(ProgressCall& call, core::Request& receive, match::Message& message);
    Pull take_announced(core::Thread& thread, core::Request& receive,
                        match::Message& message) noexcept;
    core::Request* consume_taken(core::Thread& thread, instance::Instance& instance,
                                 core::Request& receive, match::Message& message);
    void consume_now(core::Thread& thread, core::Request& receive, match::Message& message);
    void free_message(core::Thread& thread, match::Message& message) noexcept;
    void free_message(match::Message& message) noexcept;
    static void count_received(instance::Instance& instance, std::uint64_t bytes) noexcept {
        instance.receiving.received_messages.add();
        instance.receiving.received_bytes.add(bytes);
    }

    // engine_cancel.cpp
    bool take_from_self(const core::Request& send);
    void complete_cancelled(ProgressCall& call, core::Request& send) noexcept;
    bool accept_or_discard(match::Message& message) noexcept;
    match::Message* find_kept(instance::Instance& instance, const match::Pattern& pattern) noexcept;
    match::Message* take_accepted(instance::Instance& instance, core::Request& receive,
                                  match::Message* message) noexcept;
    void discard(instance::Instance& instance, match::Message& message) noexcept;
    void drop(match::Message& message) noexcept;
    void keep_offered(ProgressCall& call, instance::Instance& instance, match::Message& message);
    void sweep(instance::Instance& instance) noexcept;

    // engine_far.cpp
    class FromNetwork;
    void send_far(ProgressCall& call, core::Request& send, const Outbound& message);
    void post_far(ProgressCall& call, const Outbound& message, MessageKind kind, const void* prefix,
                  std::uint32_t prefix_bytes, core::Request* completes);
    void hand_to_network(ProgressCall& call, std::int32_t process,
                         const instance::Pending& pending);
    void answer_by_data(ProgressCall& call, std::int32_t process, const instance::Pending& data);
    void watch_far_sender(const core::Request& request) noexcept;
    bool network_is_handed_over() const noexcept;
    bool poll_network(core::Thread& thread);
    bool poll_network(ProgressCall& call);
    void deliver_far(ProgressCall& call, std::int32_t process, transport::Header& header);
    void deliver_far_control(ProgressCall& call, std::int32_t process,
                             const transport::Header& header);
    bool withhold_far(instance::Pending& pending) noexcept;
    void tell_pressure(ProgressCall& call, std::int32_t process);
    void tell_relief(ProgressCall& call);
    bool announce_readable(ProgressCall& call, core::Request& send, const Outbound& message);
    bool read_far(ProgressCall& call, const Pull& pull, std::uint64_t bytes);
    void stream_far(ProgressCall& call, const CtsFields& fields);
    void cancel_far_send(ProgressCall& call, core::Request& send);
    void answer_cancel(ProgressCall& call, std::int32_t process, const transport::Header& header);

    // engine_lost.cpp
    void fail_sends_to(ProgressCall& call, std::int32_t process);
    static void fail_request(ProgressCall& call, core::Request& request) noexcept;

    // engine_access.cpp
    void deliver_access(ProgressCall& call, std::int32_t process, const transport::Header& header);
    static void deliver_refusal(ProgressCall& call, const transport::Header& header) noexcept;

    // engine_progress.cpp
    void agree_on_fences();
    bool drain(ProgressCall& call, instance::Instance& instance);
    bool drain(ProgressCall& call, instance::Instance& instance, instance::Inlet& inlet);
    void after_draining(instance::Instance& instance, instance::Inlet& inlet) noexcept;
    void answer_mailbox(ProgressCall& call);
    void list_rung(instance::Instance& instance);
    void warm(instance::Instance& instance, instance::Inlet& inlet) noexcept;
    void cool(instance::Instance& instance, instance::Inlet& inlet) noexcept;
    void give_cells_back(instance::Instance& instance, instance::Inlet& inlet) noexcept;
    void find_out_about_cores() noexcept;
    bool visit(core::Thread& thread, instance::Instance& instance);
    bool visit_in_turn(core::Thread& thread, Instances which);
    bool attend(core::Thread& thread);
    void note_large_message() noexcept {
        if (to_start_.load(relaxed) != nullptr) [[unlikely]]
            start_worker();
    }
    void start_worker() noexcept;
    void leave_to_program(core::Work& work) noexcept;
    void tell_program() noexcept;
    void do_what_was_left(core::Thread& thread);
    bool end_poll(core::Thread& thread, bool moved);
    void run_put_off(core::Thread& thread);

    // engine_laboratory.cpp
    bool is_sequenced() const noexcept { return laboratory_ != nullptr && laboratory_->sequenced; }
    core::Request* send_in_laboratory(core::Thread& thread, const Outbound& message, Sending how);
    core::Request* send_with_request(core::Thread& thread, const Outbound& message,
                                     instance::Instance& instance, std::uint64_t number);
    void count_reference(core::Thread& thread, objects::Communicator& communicator, int change);
    Post post_in_section(core::Thread& thread, instance::Instance& way, const Outbound& message,
                         std::uint64_t number);
    core::Request* start_send_in_section(core::Thread& thread, instance::Instance& way,
                                         const Outbound& message, bool synchronous,
                                         std::uint64_t number);
    bool poll_own_first(core::Thread& thread);
    bool poll_in_section(core::Thread& thread, std::size_t number);
    core::Request* post_exactly(core::Thread& thread, core::Request& receive);
    match::Message* post_watched(instance::Instance& instance, core::Request& receive);
    core::Request* match_watched(instance::Instance& instance, match::Envelope envelope) noexcept;
    bool set_aside(ProgressCall& call, instance::Instance& instance, std::int32_t process,
                   const transport::Header& header);
    void match_set_aside(ProgressCall& call);
    void match_all_that_came(ProgressCall& call);
    void match_in_sequence(ProgressCall& call, instance::Instance& home, match::Message& message);
    void match_at_home(ProgressCall& call, instance::Instance& home, match::Message& message);

    // engine_order.cpp
    /// `what`: it is locked for.
    [[gnu::always_inline]] void lock(instance::Instance& instance, const match::Envelope& what) {
        if (!instance.lock.try_lock()) [[unlikely]]
            lock_contended(instance, what.context, what.tag);
        if (!instance.used) [[unlikely]]
            first_use(instance);
    }
    [[gnu::cold, gnu::noinline]] static void lock_contended(instance::Instance& instance,
                                                            std::uint32_t context,
                                                            std::int32_t tag) {
        instance.lock.lock();
        instance.receiving.inbox_contended.add();
        instance.inbox_waits.note(context, tag);
    }
    void first_use(instance::Instance& instance);
    void mark_used(instance::Instance& instance);
    class AllInstancesLock;
    class NoteOfDeferred;
    template <class Function>
    void for_each(Instances which, Function&& function) {
        pool_.each(which, function);
    }
    /// Calls visit(instance, inlet) for each inlet that is polled.
    template <class Visit>
    void each_inlet(Visit&& visit) {
        for_each(used(), [&](instance::Instance& instance) {
            const std::uint32_t count = instance.polled_count.load(relaxed);
            for (std::uint32_t i = 0; i < count; ++i)
                visit(instance, *instance.polled[i].load(relaxed));
        });
    }
    Instances used() const noexcept { return used_.load(acquire); }
    /// An instance that only sends is not in use, but may have a backlog.
    Instances in_progress() const noexcept { return used() | backlog_.instances(); }
    void drain_in_order(ProgressCall& call, const AllInstancesLock& all);
    Ready another_ready(const AllInstancesLock& all, const instance::Inlet* besides);
    bool drain_only(ProgressCall& call, const AllInstancesLock& all);
    void list_all_rung(const AllInstancesLock& all);
    void take_out_of_rings(ProgressCall& call, const AllInstancesLock& all,
                           std::uint64_t last_stamp);
    bool may_be_preceded(const match::Message& message) noexcept;
    /// Whether something is deferred, and a sender has rung for what it waits for.
    bool may_release_deferred() const noexcept {
        return any_deferred_.load(relaxed) &&
            node_.mailbox(static_cast<std::size_t>(rank_)).withdrawn.load(seq_cst) != 0;
    }
    void restore_order(ProgressCall& call);
    std::uint64_t next_order() noexcept;
    match::Message* lowest(const match::Pattern& pattern);
    match::Message* earliest(const match::Pattern& pattern);
    match::Message* earliest_in_order(ProgressCall& call, const AllInstancesLock& all,
                                      const match::Pattern& pattern);
    void match_taken_out(ProgressCall& call, instance::Instance& instance, match::Message& message);
    void defer_unexpected(const match::Envelope& first);
    core::Request* post_slowly(core::Thread& thread, core::Request& receive, bool allow_overtaking);
    core::Request* post_any_tag(core::Thread& thread, core::Request& receive, bool in_order);
    match::Message* search(core::Thread& thread, const match::Pattern& pattern, bool in_order,
                           bool take, core::Outcome& found);
    void deliver_to_self(ProgressCall& call, instance::Instance& instance, core::Request& send,
                         const Outbound& message);
    void note_causality(core::Request& receive, const match::Message& message) noexcept;

    // engine_homes.cpp
    Instances likely_instances_of_any_tag(const core::Request& request) const noexcept;
    bool is_at_home(std::uint32_t context, const instance::Instance& instance) const noexcept;
    bool has_home_elsewhere(std::uint32_t context,
                            const instance::Instance& instance) const noexcept;
    void leave_home(std::uint32_t context);
    bool awaits_order(instance::Instance& instance, std::uint32_t context) noexcept;
    bool post_at_home(core::Request& receive, bool in_order, match::Message*& message);
    match::Message* post_here(instance::Instance& instance, core::Request& receive, bool in_order);
    bool cancel_wildcard(core::Request& receive) noexcept;
    void pay_attention(std::uint64_t classes) noexcept;
    void be_wild(std::uint32_t context) noexcept;
    bool settle(std::uint32_t context);
    void settle_all();
    core::Request* take_wildcard(instance::Instance& instance, const match::Envelope& envelope,
                                 std::uint64_t before) noexcept;
    template <class Visit>
    void each_wildcard(Visit&& visit) {
        wildcards_.each_posted(visit);
        homes_.each([&](std::size_t instance, PostedWildcards& posted) {
            const std::lock_guard held(pool_[instance].lock);
            posted.each_posted(visit);
        });
    }

    const transport::shm::Node& node_;
    const std::int32_t rank_;  ///< number of this process
    const std::int32_t here_;  ///< those of the node's are below
    const tool::Settings settings_;
    // The conditions of the short ways, which no message meets in a recipe of the laboratory, or where the
    // processor's counter does not order threads.
    const bool counts_stamps_;           ///< all sends take the slow way, and a number from stamps_
    const std::uint64_t inline_below_;   ///< payloads that go into one cell are shorter
    const std::uint64_t at_once_below_;  ///< those that are sent without a request if there is room
    core::Arena<core::Request>& requests_;
    instance::Pool pool_;
    core::Request completed_send_;

    match::ContextClasses classes_;  ///< of the contexts of what comes, and of receives
    alignas(cache_line) Wildcards wildcards_;
    Homes homes_;
    std::atomic<Instances> used_{0};  ///< instances that have ever held anything

    Pressure pressure_;
    Deferred deferred_;
    std::atomic<bool> any_deferred_{false};  ///< as of when everything was locked last

    Watchers watchers_;

    const std::unique_ptr<match::Recording> recording_;  ///< nullptr: nothing is recorded
    const std::unique_ptr<Laboratory> laboratory_;       ///< nullptr in the default recipe

    AnnouncedSends announced_;
    Endings endings_;
    const MessageOffers offers_;
    Backlog backlog_;
    NodeCores node_cores_;
    PayloadRings payload_rings_;
    LargeCopy copies_;

    /// What a poll looks at besides rings: the mailbox, or something that is never zero if there is a network.
    std::atomic<const std::atomic<std::uint64_t>*> attention_;
    std::atomic<Network*> network_{
        nullptr};  ///< nullptr: the job is on one node, and has met no other
    GuestListener* guest_listener_ = nullptr;
    std::vector<std::int32_t> told_of_pressure_;  ///< of other nodes; guarded by the lane
    FarListeners far_listeners_;
    IdleRings idle_rings_;
    const std::shared_ptr<BsendBuffer> send_buffer_;  ///< HEDDLE_SEND_BUFFER; nullptr: none
    core::Arena<match::Message> messages_;
    core::BlockDepot blocks_;
    std::atomic<NodeWorker*> to_start_{nullptr};         ///< with the first large message
    std::atomic<core::Work*> left_to_program_{nullptr};  ///< a list, by threads of the library
    std::atomic<std::uint64_t> sweeps_{0};  ///< how often kept messages have been swept
    alignas(cache_line) std::atomic<std::uint64_t> stamps_{0};

    sync::LoneThread lone_thread_;
    sync::Claims claims_;
    alignas(cache_line) core::Company company_;
    std::atomic<std::uint32_t> parked_everywhere_{0};
    std::atomic<std::uint32_t> sleepers_{0};
    progress::Lot lot_;
    sync::CoveredFence fence_;  ///< of what makes senders ring
};

}  // namespace heddle::p2p
