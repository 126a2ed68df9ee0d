// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// What threads do with a lock in P2: pass it on (figure 2a), pipeline messages (section 3.4.3), or have
/// one message in flight each (section 3.4.2). The library is that of the paper's figure 1: one lock; a call
/// issues its operation within it (main path); a call that waits looks whether its own operations are
/// complete and polls the network, within the lock each time: at first as main path, then as progress path.
///
/// A poll takes the completions that are there, whoever waits for them; the one who does sees it when it
/// has the lock again. An acquisition is productive if an operation was issued in it, if its poll found a
/// completion, or if the thread's own wait ended in it.

#include <algorithm>
#include <queue>
#include <random>
#include <stdexcept>
#include <string_view>

#include "sync/locks/all.hpp"
#include "world.hpp"

namespace heddle::bench {

using sync::locks::Path;

enum class Regime { passing, throughput, latency };

struct Workload {
    Regime regime = Regime::throughput;
    Time duration = nanoseconds(20e6);
    unsigned threads = 1;
    unsigned issue_lines = 10;  ///< of the library's, touched by issuing an operation
    unsigned poll_lines = 2;    ///< by a poll that finds nothing, the same ones each time
    unsigned found_lines = 4;   ///< more, by one that does
    unsigned shared_lines = 64; ///< of which those of issuing and finding are chosen at random
    Time issue_work = nanoseconds(100), poll_work = nanoseconds(50), found_work = nanoseconds(50);
    unsigned window = 64;       ///< messages of a thread before it waits, in the throughput regime
    unsigned batch = 8;         ///< completions that one poll takes
    Time network = nanoseconds(1000), gap = nanoseconds(50);  ///< one way; between two messages
    Time service = nanoseconds(500);                          ///< of the server, for one message
};

struct PathCount {
    std::uint64_t acquisitions = 0, productive = 0;
    double efficiency() const {
        return acquisitions == 0 ? 0 : static_cast<double>(productive) / static_cast<double>(acquisitions);
    }
};

struct Outcome {
    std::uint64_t operations = 0;
    PathCount main, progress;
    double rate = 0;  ///< operations a second
};

/// Completions on their way: of messages that leave one after another, or come back from the server.
class Network {
public:
    explicit Network(const Workload& work) : work_(work) {}

    void send(Time now, unsigned thread) {
        out_free_ = std::max(out_free_, now) + work_.gap;
        Time complete = out_free_ + work_.network;
        if (work_.regime == Regime::latency) {
            server_free_ = std::max(server_free_, complete) + work_.service;
            complete = server_free_ + work_.network;
        }
        completions_.push({complete, thread});
    }
    bool ready(Time now) const { return !completions_.empty() && completions_.top().first <= now; }
    unsigned take() {
        const unsigned thread = completions_.top().second;
        completions_.pop();
        return thread;
    }

private:
    using Completion = std::pair<Time, unsigned>;
    const Workload& work_;
    Time out_free_ = 0, server_free_ = 0;
    std::priority_queue<Completion, std::vector<Completion>, std::greater<>> completions_;
};

/// A process whose threads share one lock.
template <class L>
class Process {
public:
    explicit Process(const Workload& work) : work_(work), network_(work), lines_(work.shared_lines + work.poll_lines), own_(work.threads) {}

    void run(unsigned thread) {
        switch (work_.regime) {
            case Regime::passing: return pass(thread);
            case Regime::throughput: return communicate(thread, work_.window, 1);
            case Regime::latency: return communicate(thread, 1, 2);  // a send and a receive
        }
    }
    Outcome outcome;

private:
    struct alignas(64) Line {
        std::uint64_t completed = 0;  ///< of the thread that it belongs to
    };

    void touch_some(unsigned count, std::minstd_rand& random) {
        const void* words[64];
        for (unsigned i = 0; i < count; ++i) words[i] = &lines_[work_.poll_lines + random() % work_.shared_lines];
        Machine::here().touch({words, count});
    }
    void touch_queue() {
        const void* words[64];
        for (unsigned i = 0; i < work_.poll_lines; ++i) words[i] = &lines_[i];
        Machine::here().touch({words, work_.poll_lines});
    }

    void pass(unsigned thread) {
        std::minstd_rand random(thread + 1);
        for (Path path = Path::main;; path = path == Path::main ? Path::progress : Path::main) {
            typename L::Node me;
            lock_on(lock_, path, me);
            touch_some(work_.issue_lines, random);
            ++outcome.operations;
            lock_.unlock(me);
        }
    }

    void communicate(unsigned thread, unsigned messages, unsigned calls) {
        std::minstd_rand random(thread + 1);
        for (std::uint64_t sent = 0;;) {
            for (unsigned i = 0; i < messages; ++i)
                for (unsigned call = 0; call < calls; ++call) issue(thread, random, call == 0);
            sent += messages;
            wait_for(thread, sent, random);
        }
    }

    void issue(unsigned thread, std::minstd_rand& random, bool sends) {
        typename L::Node me;
        lock_on(lock_, Path::main, me);
        touch_some(work_.issue_lines, random);
        Machine::here().work(work_.issue_work);
        if (sends) network_.send(Machine::here().now(), thread);
        count(outcome.main, true);
        lock_.unlock(me);
    }

    void wait_for(unsigned thread, std::uint64_t all, std::minstd_rand& random) {
        for (Path path = Path::main;; path = Path::progress) {
            typename L::Node me;
            lock_on(lock_, path, me);
            const void* own = &own_[thread];
            Machine::here().touch({&own, 1});
            bool over = own_[thread].completed == all;
            const bool productive = over || poll(random);
            count(path == Path::main ? outcome.main : outcome.progress, productive);
            over = own_[thread].completed == all;
            lock_.unlock(me);
            if (over) return;
        }
    }

    bool poll(std::minstd_rand& random) {
        touch_queue();
        Machine::here().work(work_.poll_work);
        unsigned found = 0;
        for (; found < work_.batch && network_.ready(Machine::here().now()); ++found) {
            Line& owner = own_[network_.take()];
            const void* word = &owner;
            Machine::here().touch({&word, 1});
            touch_some(work_.found_lines, random);
            Machine::here().work(work_.found_work);
            ++owner.completed;
            ++outcome.operations;
        }
        return found > 0;
    }

    static void count(PathCount& path, bool productive) {
        ++path.acquisitions;
        path.productive += productive ? 1 : 0;
    }

    const Workload& work_;
    L lock_;
    Network network_;
    std::vector<Line> lines_, own_;
};

template <class L>
Outcome simulate(const Topology& topology, const Costs& costs, const Workload& work) {
    Machine machine(topology, costs);
    Process<L> process(work);
    for (unsigned thread = 0; thread < work.threads; ++thread)
        machine.thread([&process, thread] { process.run(thread); });
    machine.run(work.duration);
    process.outcome.rate = static_cast<double>(process.outcome.operations) / (static_cast<double>(work.duration) * 1e-12);
    return process.outcome;
}

}  // namespace heddle::bench
