// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// What a thread of the program keeps for itself inside the library: its requests, where it sleeps,
/// its token for biased locks, and what it has learned about waiting.
///
/// A thread is attached to the one Process when it first calls MPI; the test of several processes
/// in one address space attaches each thread to the one that it plays. Thread objects are reused
/// after their thread has ended, never unmapped.

#include <atomic>
#include <chrono>
#include <cstdint>
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

/// Free requests of one thread; exchanges batches with the process's arena. The first ones are small: a thread that
/// only makes a few requests touches little memory, which is new to it.
class RequestPool {
public:
    /// A request with nothing set but what its constructor sets; nullptr when memory has run out.
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
    /// Keeps no free request from now on: what all threads share is the pool, in a section of `visitor`.
    void share(sync::locks::Visitor& visitor) noexcept {
        batch_ = 1;
        most_ = 0;
        visitor_ = &visitor;
    }
    /// From now on each request that is given back comes by spill(), which tells that it has been found
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
    std::size_t batch_ = first_batch;  ///< 1: there are no batches
    std::size_t most_ = 1024;
    sync::locks::Visitor* visitor_ = nullptr;
};

/// On a crowded core: whether those whom the threads of a process wait for are likely to run at the same
/// time, on other cores, so that they answer within a burst of polls. Taken to be so as long as they do;
/// when one does not, no burst is tried for a number of waits that grows with each burst in vain. All
/// threads of a process go by this: of two that share a core, the one that offers it and the one that does
/// not would share it unfairly.
class Company {
public:
    bool expected() const noexcept { return doubtful_.load(relaxed) == 0; }
    /// An answer, although no burst was tried. Relaxed, and lost when two count at once: it is a guess.
    void came() noexcept {
        const std::uint32_t left = doubtful_.load(relaxed);
        if (left != 0) doubtful_.store(left - 1, relaxed);
    }
    /// Many answers came to one thread, without a burst in vain.
    void trust() noexcept { doubts_.store(few_doubts, relaxed); }
    static constexpr std::uint32_t many = 8;
    /// A burst was in vain; `answers` came within bursts since the one before.
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

/// What recent waits have taught about how long the next one should spin (progress/wait.hpp).
struct Patience {
    /// What it costs to sleep and to be woken: on a core that nobody else wants, so long a wait spins.
    std::chrono::nanoseconds cost_of_sleep{120'000};
    std::uint32_t polls =
        0;  ///< on a crowded core: polls worth doing before sleeping; 0: not learned yet
    std::uint32_t quick_offer = 0;  ///< ticks that offering the core takes when nobody takes it
    std::uint32_t answers = 0;      ///< within bursts on a crowded core, since one was in vain
    bool crowded = false;           ///< other threads want this core: offer it after every poll
    // There:
    std::int32_t peer = -1;        ///< the process that answered last, by its number
    std::uint8_t vain_bursts = 0;  ///< in a row, for somebody who seemed to run
    std::uint8_t bursts_to_skip = 0;
};

struct Thread;

/// Something to be done by a thread that holds no lock, put off until then (p2p/progress_call.hpp).
class Work {
public:
    virtual void run(Thread& thread) noexcept = 0;
    /// Whether it calls functions of the program: threads of the library leave it to those of the program then.
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
    /// Tags below it belong to no instance: MPI_ANY_TAG, or all tags in a recipe of the laboratory. Here,
    /// since the thread is at hand where it is asked.
    std::int32_t exact_tags_from = 0;
    std::uint8_t visits_from = 0;  ///< the instance to look at first, of several
    /// Through whose ring of payload it sent last, as long as lines of that ring are to be taken ahead.
    struct {
        std::int32_t process = -1;  ///< -1: there are none
        std::uint8_t instance = 0;
    } sent_last;
    std::uint32_t tests = 0;            ///< of MPI_Test and its like in a row in which nothing came
    std::uint32_t system_id = 0;        ///< the kernel's thread id
    node::Page* page = nullptr;         ///< of its process on the board; nullptr: there is none
    FreeList<match::Message> messages;  ///< free ones
    BlockPool blocks;                   ///< for payloads of messages
    bool of_library = false;  ///< it has come to MPI for the library, and never runs the program
    Work* put_off = nullptr;  ///< a list; run by Polling::finish()
    bool working = false;     ///< it is running the list: what is put off meanwhile is added
    // What it counts is never set back: another thread goes on where it has ended.
    tool::counters::Progress progress;
    tool::counters::Copying copying;
    tool::counters::Windows windows;
    /// Its last call that has failed: MPI_Error_string says so besides.
    struct {
        int error_class = 0;
        std::string text;
    } last_failure;
    sync::locks::Visitor* visitor = nullptr;  ///< of critical sections; nullptr: there are none
    /// Messages taken from a ring while it was locked, to be matched where they belong: a list. Only
    /// where senders choose the instance (p2p/laboratory.hpp).
    match::Message* set_aside = nullptr;
    match::Message* last_set_aside = nullptr;
    alignas(cache_line) sync::Slot slot;
    Thread* next = nullptr;        ///< in the list of parked threads, or of free Thread objects
    std::uint32_t number = 0;      ///< in the order in which threads of the program came to MPI
    std::uint32_t collective = 0;  ///< number of the blocking collective call it is in; 0: none
    node::Attached* attached = nullptr;  ///< its entry on the board; nullptr: none was free
};

}  // namespace heddle::core
