// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Messages between a process and processes of other nodes. There is one lane
/// (transport/transport.hpp). Everything from one sender is in order in it, whichever threads have
/// sent it.
///
/// Sending        a thread that gets the lane's lock hands its message over. Otherwise it leaves
///                the message in a queue for the thread that has the lock. So no thread waits for
///                that lock, and messages of several threads leave together.
/// Completing     a send is complete when the lane has tried to let its batch leave. A thread that
///                waits for it polls, and so makes the lane try.
/// Receiving      poll() hands messages to the receiver, with the lane locked.
/// Keys           HeldLane is the only key to the lane and its data (as in instance/instance.hpp).
/// Resting        while MPI is closed no thread polls. The lane stays, since processes open MPI
///                when each of them likes. Messages that others send meanwhile are there when this
///                process opens it again. Addresses stay the same.
/// Sleeping       only the worker sleeps on a network (p2p/far/network_worker.hpp). It also lets
///                messages leave that were left behind by threads that go away.
/// Lock order     the lane, then instances, then the queues. With an instance locked the lane is
///                only tried. The thread that has the lane looks at the queues again after
///                unlocking it.
/// Thread safety  every function from any thread.
/// Errors         send() throws std::bad_alloc, and has done nothing then. The receiver hears of a
///                peer that cannot be reached any more.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/arena.hpp"
#include "core/free_list.hpp"
#include "instance/pending.hpp"
#include "launch/numbering.hpp"
#include "node/traffic.hpp"
#include "p2p/progress_call.hpp"
#include "platform/alarm.hpp"
#include "sync/mutex.hpp"
#include "tool/counters.hpp"
#include "transport/guests.hpp"
#include "transport/paged_table.hpp"
#include "transport/two_lanes.hpp"

namespace heddle::p2p {

class Network {
public:
    /// Receiver of the network's events.
    class Receiver {
    public:
        /// Takes a message. Returns false if it cannot now; the message then comes again.
        virtual bool arrived(ProgressCall& call, std::int32_t process,
                             transport::Header& header) noexcept = 0;
        virtual void lost(std::int32_t process, std::string_view why) noexcept = 0;
        virtual void left(std::int32_t process) noexcept = 0;
        /// Withholds a message that is about to leave, to a process that has asked for that.
        /// Returns false if there is nothing to withhold.
        virtual bool withhold(instance::Pending& message) noexcept = 0;
        /// Called at the end of each poll.
        virtual void polled(ProgressCall& call) noexcept = 0;
        /// Notes that the last piece of a payload has left.
        virtual void streamed() noexcept = 0;
        /// Notes that the first `bytes` of a payload have been read.
        virtual void has_read(ProgressCall& call, const Pull& pull,
                              std::uint64_t bytes) noexcept = 0;
        /// Notes that they have not, or not all. They must be asked for.
        virtual void has_not_read(ProgressCall& call, const Pull& pull,
                                  std::uint64_t bytes) noexcept = 0;

    protected:
        ~Receiver() = default;
    };
    /// Returns the address of a rank's lane. Throws std::runtime_error.
    using Addresses = std::function<std::string(std::int32_t rank)>;

    /// `lane` is nullptr if the job is on one node. No process is reached then before add_guests().
    /// `numbers` and `traffic` must live as long. `traffic` counts messages to other ranks for the
    /// launcher; nullptr: nothing does.
    Network(const launch::Numbering& numbers, std::unique_ptr<transport::AnyLane> lane,
            Addresses addresses, node::Traffic* traffic = nullptr);
    ~Network();
    Network(const Network&) = delete;
    Network& operator=(const Network&) = delete;

    /// Reaches processes of other jobs, too, from now on. Called once; `guests` must live as long.
    /// Throws std::system_error.
    void add_guests(std::unique_ptr<transport::AnyLane> lane, const transport::Guests& guests);

    /// Forgets guests that have ended, that no message is for, and for which `may_go` returns true.
    /// It is called with their number and the lane locked.
    void forget_guests(transport::Guests& guests,
                       const std::function<bool(std::int32_t process)>& may_go);

    void send(ProgressCall& call, Receiver& receiver, std::int32_t process,
              const instance::Pending& message);
    /// Takes out the first message of `send` to that process that waits for room and for which
    /// `is_it` returns true.
    template <class IsIt>
    bool take_out(std::int32_t process, const core::Request& send, IsIt&& is_it);
    /// Sets whether payloads to that process are withheld. Called in a call of the receiver.
    void withhold(std::int32_t process, bool on);
    /// Makes silence of that process a fault from now on. Sending a message there does the same.
    void watch(Receiver& receiver, std::int32_t process) noexcept;
    /// Returns the longest payload of a message that is sent as a whole, its prefix included.
    std::size_t most_payload() const noexcept { return most_payload_; }

    // Payloads that receivers read out of the memory of their senders, if the network does that.

    /// Exposes the payload of a send until end_exposure(). Returns nothing if that process does not
    /// read so much. Throws std::bad_alloc, or std::runtime_error with the network's error.
    std::optional<transport::RemoteMemory> expose(Receiver& receiver, const core::Request& send,
                                                  transport::Bytes payload);
    /// Called in a call of the receiver.
    void end_exposure(const core::Request& send) noexcept { guarded_.exposed.erase(&send); }
    /// Called outside of one. No process knows about the exposure.
    void withdraw_exposure(const core::Request& send) noexcept {
        const LaneLock lane(*this);
        lane->exposed.erase(&send);
    }
    /// Reads the first `bytes` of a message; has_read() or has_not_read() follows. Returns false if
    /// the network does not read. Throws std::bad_alloc, and has done nothing then.
    bool read(ProgressCall& call, Receiver& receiver, const Pull& pull, std::uint64_t bytes);

    /// Makes progress, unless another thread does. Returns true if there was any.
    bool poll(ProgressCall& call, Receiver& receiver) noexcept;

    /// Returns whether no message of this process waits for room.
    bool all_handed_over() const noexcept {
        return !any_fresh_.load(acquire) && waiting_.load(acquire) == 0;  // A1, A2
    }
    /// Returns whether all receivers have taken over everything. Called again and again, with polls
    /// between.
    bool is_drained() noexcept;
    /// mark() remembers the messages that have been sent and are complete. is_past_mark() returns
    /// whether receivers have taken them over. It is called again and again, too.
    void mark() noexcept;
    bool is_past_mark() noexcept;
    /// Lets peers go from now on: no error is reported.
    void begin_to_close() noexcept { closing_.store(true, relaxed); }
    /// Ends that: MPI has been opened again, or stays open.
    void stay_open() noexcept { closing_.store(false, relaxed); }
    bool counts_traffic() const noexcept { return traffic_ != nullptr; }
    bool is_closing() const noexcept { return closing_.load(relaxed); }

    /// Stops polling until resume(), and tells peers.
    void rest() noexcept;
    void resume() noexcept;

    // --- for the worker ---

    /// Returns whether no thread of the program has polled since the last call. They sleep, as
    /// `sleepers` says, or do other work.
    bool needs_worker(std::uint32_t sleepers) noexcept;
    /// Makes progress; waits for a thread that makes it.
    bool poll_surely(ProgressCall& call, Receiver& receiver) noexcept;
    /// Sleeps until a message comes or ring(), at most for `at_most`.
    void sleep(std::chrono::milliseconds at_most) noexcept;
    /// Sleeps for `time` even if messages come. ring() ends it, too.
    void nap(std::chrono::milliseconds time) noexcept { alarm_.sleep(-1, time); }
    void ring() noexcept { alarm_.ring(); }

    void add_to(tool::Values& values) const noexcept { values += counters_; }

private:
    /// Messages to one process.
    struct Queue {
        std::int32_t process;
        transport::Peer peer;  ///< its rank, as the lane's peer
        /// Messages sent while the lane was locked; guarded by queues_lock_.
        instance::PendingList sent{};
        Queue* next_fresh = nullptr;      ///< list of queues with such messages; likewise
        instance::PendingList waiting{};  ///< for room; guarded by the lane's lock
        Queue* next_active = nullptr;     ///< list of queues with such messages; likewise
        bool active = false;              ///< likewise
        bool withholds = false;           ///< likewise
    };
    /// A payload that is read piece by piece, or will be.
    struct Reading {
        Pull pull;
        std::uint64_t bytes;
        std::uint64_t asked = 0;   ///< bytes that have been asked for
        std::uint32_t pieces = 0;  ///< pieces in progress
        bool failed = false;
        Reading* next = nullptr;
    };
    struct Exposure {
        std::int32_t to;
        std::unique_ptr<transport::AnyExposed> memory;
    };
    struct Adapter;

    /// The lane and its data. A HeldLane leads to it.
    struct Guarded {
        transport::TwoLanes lanes;
        Queue* active = nullptr;
        core::FreeList<instance::Pending> free{};
        std::vector<std::byte> packed;     ///< one payload, out of data with gaps
        instance::PendingList gathered{};  ///< messages handed over that may not have left
        std::unordered_map<const core::Request*, Exposure> exposed{};
        Reading* to_read = nullptr;  ///< payloads of which pieces are still to be asked for
        std::uint32_t pieces = 0;    ///< pieces of payloads that are being read
        bool urgent = false;         ///< a thread waits for a gathered message
    };
    class LaneLock;
    /// The key: the calling thread has the lane's lock.
    class HeldLane {
    public:
        Guarded* operator->() const noexcept { return &network_->guarded_; }

    private:
        friend class LaneLock;
        friend class Network;
        explicit HeldLane(Network& network) noexcept : network_(&network) {}
        Network* network_;
    };
    /// Holds the lane's lock; the destructor unlocks it.
    class [[nodiscard]] LaneLock {
    public:
        explicit LaneLock(Network& network) noexcept : key_(network) { network.lane_lock_.lock(); }
        explicit LaneLock(HeldLane key) noexcept : key_(key) {}
        ~LaneLock() { key_.network_->lane_lock_.unlock(); }
        LaneLock(const LaneLock&) = delete;
        LaneLock& operator=(const LaneLock&) = delete;
        operator HeldLane() const noexcept { return key_; }
        Guarded* operator->() const noexcept { return key_.operator->(); }

    private:
        const HeldLane key_;
    };
    /// Returns no key if the lock is not free.
    std::optional<HeldLane> try_lock() noexcept {
        if (!lane_lock_.try_lock()) return std::nullopt;
        return HeldLane(*this);
    }

    /// Throws std::bad_alloc.
    Queue& queue_of(std::int32_t process);
    Queue& make_queue(std::int32_t process);
    /// Returns nullptr if no message was ever sent there.
    Queue* find_queue(std::int32_t process) const noexcept {
        const std::atomic<Queue*>* const entry = queue_of_.find(place_of(process));
        return entry == nullptr ? nullptr : entry->load(acquire);  // A3
    }
    std::size_t place_of(std::int32_t process) const noexcept {
        return static_cast<std::size_t>(process - numbers_.here());
    }
    void leave_in_queue(Queue& queue, const instance::Pending& message);
    void append(HeldLane lane, Queue& queue, const instance::Pending& message);
    static void activate(HeldLane lane, Queue& queue) noexcept;
    void hand_over(ProgressCall& call, Receiver& receiver) noexcept;
    bool hand_over(HeldLane lane, ProgressCall& call, Receiver& receiver) noexcept;
    void gather_sent(HeldLane lane) noexcept;
    bool post_front(HeldLane lane, Receiver& receiver, Queue& queue) noexcept;
    static transport::Post post(HeldLane lane, Queue& queue, const instance::Pending& pending,
                                std::uint64_t bytes) noexcept;
    bool connect(HeldLane lane, Receiver& receiver, std::int32_t process) noexcept;
    std::string address_of(std::int32_t rank) const;
    static void end_exposures(HeldLane lane, std::int32_t process) noexcept;
    bool can_read(HeldLane lane, Receiver& receiver, std::int32_t process) noexcept;
    bool ask_for_pieces(HeldLane lane, ProgressCall& call, Receiver& receiver) noexcept;
    bool ask_for_piece(HeldLane lane, Reading& reading) noexcept;
    void end_piece(HeldLane lane, ProgressCall& call, Receiver& receiver, Reading& reading,
                   bool fine) noexcept;
    void end_reading(HeldLane, ProgressCall& call, Receiver& receiver, Reading& reading) noexcept;
    void complete_gathered(HeldLane lane, ProgressCall& call, Receiver& receiver) noexcept;
    bool poll(HeldLane lane, ProgressCall& call, Receiver& receiver) noexcept;
    bool poll_and_see(HeldLane lane, ProgressCall& call, Receiver& receiver) noexcept;
    void free(HeldLane lane, instance::Pending& pending) noexcept;
    /// Returns whether messages that are exchanged with the process are counted for the launcher.
    /// Processes of other jobs are left out.
    bool counts(std::int32_t process) const noexcept {
        return traffic_ != nullptr && !numbers_.is_guest(process);
    }
    static std::size_t group_of(const Queue& queue) noexcept {
        return node::traffic_group(static_cast<std::int32_t>(queue.peer));
    }
    /// Adds with the lock held that guards the count.
    static void adjust(std::atomic<std::uint64_t>& count, std::int64_t difference) noexcept {
        count.store(count.load(relaxed) + static_cast<std::uint64_t>(difference), relaxed);
    }
    void count_taken(std::int32_t from) noexcept;
    static bool is_owed(HeldLane lane) noexcept {
        return lane->lanes.owes() || lane->active != nullptr || lane->to_read != nullptr;
    }
    void tell_worker_what_is_owed(HeldLane lane) noexcept;

    const launch::Numbering& numbers_;
    const Addresses addresses_;
    node::Traffic* const traffic_;
    const std::size_t most_payload_;
    core::Arena<instance::Pending> pending_;

    sync::Mutex lane_lock_;
    Guarded guarded_;
    tool::counters::Network counters_;
    std::atomic<std::uint64_t> polls_{0};  ///< of threads of the program

    std::atomic<const transport::Guests*> guests_{nullptr};
    transport::PagedTable<std::atomic<Queue*>> queue_of_;  ///< by number, from here() on

    sync::Mutex queues_lock_;
    // Guarded by queues_lock_:
    std::deque<Queue> queues_;
    Queue* fresh_ = nullptr;
    std::uint64_t fresh_count_ = 0;  ///< number of messages
    core::FreeList<instance::Pending> free_for_fresh_;
    std::atomic<bool> any_fresh_{false};

    std::atomic<std::uint64_t> waiting_{
        0};  ///< messages that are not complete; the fresh ones are not counted
    std::atomic<bool> closing_{false};

    platform::Alarm alarm_;            ///< of the worker
    std::atomic<bool> asleep_{false};  ///< whether the worker sleeps until a message or a ring
    std::uint64_t seen_polls_ = 0;     ///< the worker's
};

template <class IsIt>
bool Network::take_out(std::int32_t process, const core::Request& send, IsIt&& is_it) {
    const LaneLock lane(*this);
    gather_sent(lane);
    Queue& queue = queue_of(process);
    instance::Pending* const taken = queue.waiting.take_if(is_it);
    if (taken == nullptr) return false;
    if (counts(process)) adjust(traffic_->sent[group_of(queue)], -1);
    free(lane, *taken);
    lane->exposed.erase(&send);
    return true;
}

}  // namespace heddle::p2p
