// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The threads' use of a lock in P2. They pass it on (figure 2a), pipeline messages (section
/// 3.4.3), or have one message in flight each (section 3.4.2). The library is that of the paper's
/// figure 1, with one lock. A call issues its operation within it (main path). A call that waits
/// looks whether its own operations are complete and polls the network, within the lock each time.
/// It takes the main path at first, then the progress path.
///
/// A poll takes all completions that are there, also those of other threads. Each thread sees its
/// own when it has the lock again. An acquisition is productive if an operation was issued in it or
/// its poll found a completion. It is also productive if the thread's own wait ended in it.

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
    Time duration = nanoseconds(40e6);  ///< the first quarter does not count
    unsigned threads = 1;
    unsigned passage_lines = 10;  ///< touched in the passing regime, as in the paper
    unsigned issue_lines = 4;     ///< of the library's, touched by issuing an operation
    unsigned poll_lines = 2;      ///< touched by a poll that finds nothing, the same ones each time
    unsigned found_lines = 2;     ///< touched besides by a poll that finds any
    /// The lines of issuing and finding are chosen from these at random.
    unsigned shared_lines = 64;
    Time issue_work = nanoseconds(100), poll_work = nanoseconds(50), found_work = nanoseconds(50);
    unsigned window = 64;  ///< messages of a thread before it waits, in the throughput regime
    unsigned batch = 8;    ///< completions that one poll takes
    /// in one direction; between two messages
    Time network = nanoseconds(1000), gap = nanoseconds(50);
    Time service = nanoseconds(2000);  ///< of the server, for one message
};

inline double ratio(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

struct PathCount {
    std::uint64_t acquisitions = 0, productive = 0;
    std::uint64_t waiting =
        0;  ///< other threads that waited on this path, summed over its acquisitions
    PathCount operator-(const PathCount& other) const {
        return {acquisitions - other.acquisitions, productive - other.productive,
                waiting - other.waiting};
    }
    double efficiency() const { return ratio(productive, acquisitions); }
    double crowd() const { return ratio(waiting, acquisitions); }
    double for_each_of(std::uint64_t operations) const { return ratio(acquisitions, operations); }
};

struct Outcome {
    std::uint64_t operations = 0;
    PathCount main, progress;
    PathCount& of(Path path) { return path == Path::main ? main : progress; }
    double rate = 0;  ///< operations a second
    Outcome operator-(const Outcome& other) const {
        return {operations - other.operations, main - other.main, progress - other.progress};
    }
};

/// Completions under way: of messages that leave one after another, or come back from the server.
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
    explicit Process(const Workload& work)
        : work_(work),
          network_(work),
          lines_(work.shared_lines + work.poll_lines),
          own_(work.threads) {}

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
        std::uint64_t completed = 0;  ///< of the thread that owns it
    };

    /// The lock, held on one of the paths for as long as this lives.
    class Held {
    public:
        Held(Process& process, Path path) : process_(process), count_(process.outcome.of(path)) {
            unsigned& waiting = process.waiting_[static_cast<std::size_t>(path)];
            ++waiting;
            lock_on(process.lock_, path, me_);
            --waiting;
            ++count_.acquisitions;
            count_.waiting += waiting;
        }
        ~Held() { process_.lock_.unlock(me_); }
        Held(const Held&) = delete;
        Held& operator=(const Held&) = delete;
        void was_productive() { ++count_.productive; }

    private:
        Process& process_;
        PathCount& count_;
        typename L::Node me_;
    };

    void touch_some(unsigned count, std::minstd_rand& random) {
        const void* words[64];
        for (unsigned i = 0; i < count; ++i)
            words[i] = &lines_[work_.poll_lines + random() % work_.shared_lines];
        Machine::here().touch({words, count});
    }
    void touch_queue() {
        const void* words[64];
        for (unsigned i = 0; i < work_.poll_lines; ++i) words[i] = &lines_[i];
        Machine::here().touch({words, work_.poll_lines});
    }

    void pass(unsigned thread) {
        std::minstd_rand random(thread + 1);
        while (true) {
            Held held(*this, Path::main);
            touch_some(work_.passage_lines, random);
            Machine::here().work(work_.passage_lines * nanoseconds(4));  // choosing the lines
            ++outcome.operations;
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
        Held held(*this, Path::main);
        touch_some(work_.issue_lines, random);
        Machine::here().work(work_.issue_work);
        if (sends) network_.send(Machine::here().now(), thread);
        held.was_productive();
    }

    void wait_for(unsigned thread, std::uint64_t all, std::minstd_rand& random) {
        for (Path path = Path::main;; path = Path::progress) {
            Held held(*this, path);
            const void* own = &own_[thread];
            Machine::here().touch({&own, 1});
            if (own_[thread].completed == all || poll(random)) held.was_productive();
            if (own_[thread].completed == all) return;
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

    const Workload& work_;
    unsigned waiting_[2] = {0, 0};  ///< threads on each path
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
    machine.run(work.duration / 4);
    const Outcome warm = process.outcome;
    machine.run(work.duration);
    Outcome outcome = process.outcome - warm;
    outcome.rate =
        static_cast<double>(outcome.operations) / (static_cast<double>(work.duration) * 0.75e-12);
    return outcome;
}

}  // namespace heddle::bench
