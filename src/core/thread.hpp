// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The state that a thread of the program keeps inside the library: its requests, its slot to sleep
/// at, its token for biased locks, its experience with waits.
///
/// A thread is attached to the one Process when it first calls MPI. The test of several processes
/// in one address space attaches each thread to the process that it plays. Thread objects are
/// reused after their thread has ended, and never unmapped.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "core/arena.hpp"
#include "core/blocks.hpp"
#include "core/free_list.hpp"
#include "core/request.hpp"
#include "node/board.hpp"
#include "sync/biased_lock.hpp"
#include "sync/parking.hpp"
#include "tool/counters.hpp"

namespace heddle::objects {
class Process;
}
namespace heddle::p2p {
class Engine;
}
namespace heddle::match {
struct Message;
}
namespace heddle::sync::locks {
class Visitor;
}

namespace heddle::core {

/// Free requests of one thread; exchanges batches with the process's arena. The first batches are
/// small. So a thread that makes few requests touches little memory that is new to it.
class RequestPool {
public:
    /// Returns a request as its constructor makes it, or nullptr if memory has run out.
    Request* take(Arena<Request>& arena) noexcept {
        if (free_ == nullptr) [[unlikely]]
            refill(arena);
        Request* request = free_;
        if (request == nullptr) [[unlikely]]
            return nullptr;
        free_ = request->next;
        --count_;
        return request;
    }
    void give(Request& request, Arena<Request>& arena) noexcept {
        request.next = free_;
        free_ = &request;
        if (++count_ > most_) [[unlikely]]
            spill(arena);
    }
    void drain(Arena<Request>& arena) noexcept;
    /// Keeps no free request from now on. All threads then share one pool, in a section of
    /// `visitor`.
    void share(sync::locks::Visitor& visitor) noexcept {
        batch_ = 1;
        most_ = 0;
        visitor_ = &visitor;
    }
    /// Gives back each request by spill() from now on. spill() tells that it has been found
    /// complete (core/causality.hpp).
    void watch() noexcept {
        batch_ = 1;
        most_ = 0;
    }

private:
    static constexpr std::size_t first_batch = 16, most_batch = 64;

    void refill(Arena<Request>& arena) noexcept;
    void spill(Arena<Request>& arena) noexcept;

    Request* free_ = nullptr;
    std::size_t count_ = 0;
    std::size_t batch_ = first_batch;  ///< 1: no batches
    std::size_t most_ = 1024;
    sync::locks::Visitor* visitor_ = nullptr;
};

/// On a crowded core: whether the peers of a process's threads probably run at the same time, on
/// other cores. They then answer within a burst of polls. That is assumed as long as they do. When
/// a peer does not answer, no burst is tried for a number of waits. The number grows with each
/// burst in vain. All threads of a process share this state. Otherwise a thread that offers its
/// core and one that does not would share the core unfairly.
class Company {
public:
    bool expected() const noexcept { return doubtful_.load(relaxed) == 0; }
    /// Notes an answer although no burst was tried. Relaxed, and lost when two threads count at
    /// once: it is a guess.
    void came() noexcept {
        const std::uint32_t left = doubtful_.load(relaxed);
        if (left != 0) doubtful_.store(left - 1, relaxed);
    }
    /// Notes that many answers came to one thread, without a burst in vain.
    void trust() noexcept { doubts_.store(few_doubts, relaxed); }
    static constexpr std::uint32_t many = 8;
    /// Notes a burst in vain. `answers` came within bursts since the one before.
    void stayed_away(std::uint32_t answers) noexcept {
        std::uint32_t doubts = doubts_.load(relaxed);
        if (answers < many && doubts < most_doubts) doubts *= 2;
        doubts_.store(doubts, relaxed);
        doubtful_.store(doubts, relaxed);
    }

private:
    static constexpr std::uint32_t few_doubts = 1, most_doubts = 256;
    std::atomic<std::uint32_t> doubtful_{0};  ///< waits to go before the next burst
    std::atomic<std::uint32_t> doubts_{few_doubts};
};

/// Experience with recent waits: how long the next one should spin (progress/wait.hpp).
struct Patience {
    /// Cost of a sleep and a wake-up. On a core that no other thread wants, a wait spins that long.
    std::chrono::nanoseconds cost_of_sleep{120'000};
    bool may_sleep = false;  ///< once asked for: waits of the process sleep
    /// Ticks that offering the core takes when no other thread takes it: the fewest seen, at most
    /// some microseconds.
    std::uint32_t quick_offer = 6'000;
    /// Offers that no thread takes, until no other thread seems to want this core. Until then it is
    /// crowded, and offered after every poll.
    std::uint8_t offers_to_go = 0;
    std::uint32_t answers = 0;  ///< within bursts on a crowded core, since one was in vain
    bool crowded() const noexcept { return offers_to_go != 0; }
    std::uint8_t vain_offers = 0;  ///< in a row, or naps (progress/offer.hpp)
    // On a crowded core:
    std::int32_t peer = -1;        ///< number of the process that answered last
    std::uint8_t vain_bursts = 0;  ///< in a row, for a peer that seemed to run
    std::uint8_t bursts_to_skip = 0;
};

struct Thread;

/// Work put off until the thread holds no lock (p2p/progress_call.hpp).
class Work {
public:
    virtual void run(Thread& thread) noexcept = 0;
    /// Returns whether it calls functions of the program. Threads of the library then leave it to
    /// those of the program.
    virtual bool calls_program() const noexcept { return false; }
    Work* next = nullptr;  ///< in the list of the thread that put it off

protected:
    ~Work() = default;
};

struct alignas(cache_line) Thread {
    sync::Claims::Token claims;  ///< first, so that a request is marked by one instruction
    objects::Process* process = nullptr;
    p2p::Engine* engine = nullptr;  ///< of the process
    const char* call = "";          ///< the MPI function that the thread is in
    RequestPool requests;
    sync::BiasedLock::Token token{.contended = &progress.outbox_contended};
    Patience patience;
    /// Smaller tags belong to no instance: MPI_ANY_TAG, or all tags if matching is
    /// watched. Kept here, since the thread is at hand when it is read.
    std::int32_t exact_tags_from = 0;
    std::uint8_t visits_from = 0;  ///< first instance to look at, of several
    /// Ring of payload of the last send. Its lines are to be prefetched.
    struct {
        std::int32_t process = -1;  ///< -1: none
        std::uint8_t instance = 0;
    } sent_last;
    /// Calls of MPI_Test and its like that found nothing.
    std::uint32_t tests = 0;
    std::uint32_t system_id = 0;        ///< the kernel's thread id
    node::Page* page = nullptr;         ///< of its process on the board; nullptr: none
    FreeList<match::Message> messages;  ///< free ones
    BlockPool blocks;                   ///< for payloads of messages
    bool of_library = false;            ///< a thread of the library, which never runs the program
    Work* put_off = nullptr;            ///< a list that Polling::finish() runs
    bool working = false;               ///< runs the list now; work put off meanwhile is added
    // Counters of the thread are never set back: the next thread that has this object adds to them.
    tool::counters::Progress progress;
    tool::counters::Copying copying;
    tool::counters::Windows windows;
    /// The last call that failed, for MPI_Error_string.
    struct {
        int error_class = 0;
        std::string text;
    } last_failure;
    sync::locks::Visitor* visitor = nullptr;  ///< of critical sections; nullptr: none
    /// Messages taken from a ring while it was locked, to be matched in their own instance: a list.
    /// Only used if senders choose the instance (p2p/laboratory/laboratory.hpp).
    match::Message* reordered = nullptr;
    match::Message* last_reordered = nullptr;
    alignas(cache_line) sync::Slot slot;
    Thread* next = nullptr;        ///< in the list of parked threads, or of free Thread objects
    std::uint32_t number = 0;      ///< in the order in which threads of the program came to MPI
    std::uint32_t collective = 0;  ///< number of the blocking collective call it is in; 0: none
    node::Attached* attached = nullptr;       ///< its entry on the board; nullptr: none was free
    std::chrono::nanoseconds tests_noted{0};  ///< the time of the last note (progress/tested.hpp)
    std::unique_ptr<node::Tested> tested;     ///< made by the first note
};

}  // namespace heddle::core
