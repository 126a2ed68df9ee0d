// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// What a process exchanges with processes of other nodes: one lane (transport/transport.hpp), in which everything from
/// one sender is in order, whichever threads have sent it.
///
/// Sending        a thread that gets the lane's lock hands its message over. One that does not leaves it in a queue for
///                whoever has the lock: so nobody waits for that lock, and what several threads send leaves together.
/// Completing     a send is complete when the lane has tried to let its batch leave: a thread that waits for it polls,
///                which does that.
/// Receiving      poll() hands what has come to the receiver, with the lane locked.
/// Keys           HeldLane is the only way to the lane and to what goes with it (as in instance/instance.hpp).
/// Resting        while MPI is closed nobody polls. The lane stays, since processes open MPI when each of them likes: what
///                others send meanwhile is there when this one opens it again, and their addresses stay what they were.
/// Sleeping       nobody sleeps on a network but the worker (p2p/network_worker.hpp), which also lets leave what is left
///                behind by threads that go away.
/// Lock order     the lane, then instances, then the queues. With an instance locked the lane is only tried, and whoever
///                has it looks at the queues again after letting go.
/// Thread safety  everything from any thread.
/// Errors         send() throws std::bad_alloc, and has done nothing then. A peer that cannot be reached any more is told
///                to the receiver.

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
    /// What hears of messages.
    class Receiver {
    public:
        /// False: not now; it comes again.
        virtual bool arrived(ProgressCall& call, std::int32_t process,
                             transport::Header& header) noexcept = 0;
        virtual void lost(std::int32_t process, std::string_view why) noexcept = 0;
        virtual void left(std::int32_t process) noexcept = 0;
        /// The message is about to leave, to a process that has asked to withhold payloads.
        /// False: there is nothing to withhold.
        virtual bool withhold(instance::Pending& message) noexcept = 0;
        /// At the end of each poll.
        virtual void polled(ProgressCall& call) noexcept = 0;
        /// The last piece of a payload has left.
        virtual void streamed() noexcept = 0;
        /// The first `bytes` of a payload have been read.
        virtual void has_read(ProgressCall& call, const Pull& pull,
                              std::uint64_t bytes) noexcept = 0;
        /// They are not, or not all: they are to be asked for.
        virtual void has_not_read(ProgressCall& call, const Pull& pull,
                                  std::uint64_t bytes) noexcept = 0;

    protected:
        ~Receiver() = default;
    };
    /// Where a rank's lane is. Throws std::runtime_error.
    using Addresses = std::function<std::string(std::int32_t rank)>;

    /// `lane`: nullptr if the job is on one node; then nobody is reached before add_guests(). `numbers` must live as long, and
    /// `traffic`, where what goes to other ranks is counted for the launcher; nullptr: nowhere.
    Network(const launch::Numbering& numbers, std::unique_ptr<transport::AnyLane> lane,
            Addresses addresses, node::Traffic* traffic = nullptr);
    ~Network();
    Network(const Network&) = delete;
    Network& operator=(const Network&) = delete;

    /// From now on processes of other jobs are reached, too. Once; `guests` must live as long. Throws std::system_error.
    void add_guests(std::unique_ptr<transport::AnyLane> lane, const transport::Guests& guests);

    /// Forgets guests that have ended, that nothing is for, and that `may_go` says, called with their number, with the lane locked.
    void forget_guests(transport::Guests& guests,
                       const std::function<bool(std::int32_t process)>& may_go);

    void send(ProgressCall& call, Receiver& receiver, std::int32_t process,
              const instance::Pending& message);
    /// Takes out the first message to that process that waits for room, and for which `is_it` says so. It is of `send`.
    template <class IsIt>
    bool take_out(std::int32_t process, const core::Request& send, IsIt&& is_it);
    /// In a call of the receiver: that process wants payloads to be withheld from now on, or no longer.
    void withhold(std::int32_t process, bool on);
    /// Silence of that process is a fault from now on. It is for those to which something is sent.
    void watch(Receiver& receiver, std::int32_t process) noexcept;
    /// The longest payload of a message that is sent as a whole, its prefix included.
    std::size_t most_payload() const noexcept { return most_payload_; }

    // Payloads that receivers read out of the memory of their senders, where the network does that.

    /// Of a send, until end_exposure(). Returns nothing where that process does not read so much. Throws std::bad_alloc,
    /// or std::runtime_error with what the network says.
    std::optional<transport::RemoteMemory> expose(Receiver& receiver, const core::Request& send,
                                                  transport::Bytes payload);
    /// In a call of the receiver.
    void end_exposure(const core::Request& send) noexcept { guarded_.exposed.erase(&send); }
    /// Outside of one: nobody has been told of it.
    void withdraw_exposure(const core::Request& send) noexcept {
        const LaneLock lane(*this);
        lane->exposed.erase(&send);
    }
    /// Reads the first `bytes` of a message; has_read() or has_not_read() tells. Returns false where the network does not
    /// do that. Throws std::bad_alloc, and has done nothing then.
    bool read(ProgressCall& call, Receiver& receiver, const Pull& pull, std::uint64_t bytes);

    /// Progress, unless another thread makes it; true if there was any.
    bool poll(ProgressCall& call, Receiver& receiver) noexcept;

    /// Nothing of this process waits for room.
    bool all_handed_over() const noexcept {
        return !any_fresh_.load(acquire) && waiting_.load(acquire) == 0;  // A1, A2
    }
    /// Everything has been taken over by whom it was for. To be asked again and again, with polls between.
    bool is_drained() noexcept;
    /// Remembers what has been sent, and is complete; is_past_mark() answers whether it has been taken over. Likewise.
    void mark() noexcept;
    bool is_past_mark() noexcept;
    /// From now on peers may be gone: nobody hears of it.
    void begin_to_close() noexcept { closing_.store(true, relaxed); }
    /// They may not: it has been opened again, or stays open.
    void stay_open() noexcept { closing_.store(false, relaxed); }
    bool counts_traffic() const noexcept { return traffic_ != nullptr; }
    bool is_closing() const noexcept { return closing_.load(relaxed); }

    /// From now on nobody polls, until resume(): peers hear of it.
    void rest() noexcept;
    void resume() noexcept;

    // --- for the worker ---

    /// Whether threads of the program sleep, so many, or do something else: none of them has polled since the last time that
    /// this was asked.
    bool needs_worker(std::uint32_t sleepers) noexcept;
    /// Progress; waits for a thread that makes it.
    bool poll_surely(ProgressCall& call, Receiver& receiver) noexcept;
    /// Until something comes, at most for `at_most`. Ended by ring().
    void sleep(std::chrono::milliseconds at_most) noexcept;
    /// So long, whatever comes. Likewise.
    void nap(std::chrono::milliseconds time) noexcept { alarm_.sleep(-1, time); }
    void ring() noexcept { alarm_.ring(); }

    void add_to(tool::Values& values) const noexcept { values += counters_; }

private:
    /// Messages to one process.
    struct Queue {
        std::int32_t process;
        transport::Peer peer;             ///< its rank
        instance::PendingList sent{};     ///< while the lane was locked; guarded by queues_lock_
        Queue* next_fresh = nullptr;      ///< of those with any; likewise
        instance::PendingList waiting{};  ///< for room; guarded by the lane's lock
        Queue* next_active = nullptr;     ///< of those with any; likewise
        bool active = false;              ///< likewise
        bool withholds = false;           ///< likewise
    };
    /// A payload that is to be read, or is being read, piece by piece.
    struct Reading {
        Pull pull;
        std::uint64_t bytes;
        std::uint64_t asked = 0;   ///< so many of them have been asked for
        std::uint32_t pieces = 0;  ///< under way
        bool failed = false;
        Reading* next = nullptr;
    };
    struct Exposure {
        std::int32_t to;
        std::unique_ptr<transport::AnyExposed> memory;
    };
    struct Adapter;

    /// The lane, and what goes with it. A HeldLane leads to it.
    struct Guarded {
        transport::TwoLanes lanes;
        Queue* active = nullptr;
        core::FreeList<instance::Pending> free{};
        std::vector<std::byte> packed;     ///< one payload, out of data with gaps
        instance::PendingList gathered{};  ///< handed over, and perhaps not gone
        std::unordered_map<const core::Request*, Exposure> exposed{};
        Reading* to_read = nullptr;  ///< of which pieces are still to be asked for
        std::uint32_t pieces = 0;    ///< of payloads, that are being read
        bool urgent = false;         ///< somebody waits for what has gathered
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
    /// Unlocks the lane at the end.
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
    /// None if the lock is not free.
    std::optional<HeldLane> try_lock() noexcept {
        if (!lane_lock_.try_lock()) return std::nullopt;
        return HeldLane(*this);
    }

    /// Throws std::bad_alloc.
    Queue& queue_of(std::int32_t process);
    Queue& make_queue(std::int32_t process);
    /// nullptr if nothing was ever sent there.
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
    bool can_read(HeldLane lane, Receiver& receiver, std::int32_t process,
                  std::uint64_t bytes) noexcept;
    bool ask_for_pieces(HeldLane lane, ProgressCall& call, Receiver& receiver) noexcept;
    bool ask_for_piece(HeldLane lane, Reading& reading) noexcept;
    void end_piece(HeldLane lane, ProgressCall& call, Receiver& receiver, Reading& reading,
                   bool fine) noexcept;
    void end_reading(HeldLane, ProgressCall& call, Receiver& receiver, Reading& reading) noexcept;
    void complete_gathered(HeldLane lane, ProgressCall& call, Receiver& receiver) noexcept;
    bool poll(HeldLane lane, ProgressCall& call, Receiver& receiver) noexcept;
    bool poll_and_see(HeldLane lane, ProgressCall& call, Receiver& receiver) noexcept;
    void free(HeldLane lane, instance::Pending& pending) noexcept;
    void count(std::atomic<std::uint64_t>& what, std::int32_t process) const noexcept;
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
    // Guarded by it:
    std::deque<Queue> queues_;
    Queue* fresh_ = nullptr;
    std::uint64_t fresh_count_ = 0;  ///< of messages
    core::FreeList<instance::Pending> free_for_fresh_;
    std::atomic<bool> any_fresh_{false};

    std::atomic<std::uint64_t> waiting_{
        0};  ///< messages that are not complete, the fresh ones left out
    std::atomic<bool> closing_{false};

    platform::Alarm alarm_;            ///< of the worker
    std::atomic<bool> asleep_{false};  ///< the worker, until something comes or it is rung
    std::uint64_t seen_polls_ = 0;     ///< the worker's
};

template <class IsIt>
bool Network::take_out(std::int32_t process, const core::Request& send, IsIt&& is_it) {
    const LaneLock lane(*this);
    gather_sent(lane);
    instance::Pending* const taken = queue_of(process).waiting.take_if(is_it);
    if (taken == nullptr) return false;
    if (traffic_ != nullptr) count(traffic_->taken, process);
    free(lane, *taken);
    lane->exposed.erase(&send);
    return true;
}

}  // namespace heddle::p2p
