// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Runs the schedules of all ranks of a job (coll/schedule.hpp) in one thread, and tells how long they would take.
///
/// Order          a rank does one step after the other; of all ranks, the one whose clock is lowest goes on. A rank stops where it
///                waits for a message or a signal, and goes on when that has come.
/// Messages       between two ranks are received in the order in which they were sent, and must have the length of their
///                receives. Unbuffered ones are over for their sender when they are received: what does not hang then hangs
///                with no network.
/// Time           of a message by scale/parameters.hpp: its overhead keeps the processor of either rank, its bytes keep the
///                network of either node. Ranks that share a core take turns on it.
/// Not simulated  messages that wake sleepers; matching; batches of messages to one rank.

#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <unordered_map>
#include <vector>

#include "coll/schedule.hpp"
#include "scale/parameters.hpp"
#include "scale/ranks.hpp"

namespace heddle::scale {

struct Traffic {
    std::uint64_t messages = 0, bytes = 0;
};

struct Outcome {
    double time_us = 0;         ///< when the last rank has ended
    Traffic within, between;    ///< nodes
    std::uint64_t signals = 0;  ///< in memory that ranks share
    // Of the rank that has most of each:
    std::uint64_t most_messages = 0;       ///< sent and received
    std::uint64_t most_rounds = 0;         ///< waits for messages
    std::uint64_t most_scratch_bytes = 0;  ///< of a schedule
    std::uint64_t most_steps = 0;          ///< likewise
    // What must not be:
    std::vector<std::int32_t> stuck;  ///< ranks that wait for ever
    std::uint64_t left_over = 0;      ///< messages and receives that met nothing
    std::uint64_t wrong_lengths = 0;  ///< messages that their receives did not expect

    bool fine() const noexcept { return stuck.empty() && left_over == 0 && wrong_lengths == 0; }
};

struct SimulationOptions {
    bool moves_data = false;  ///< else nobody looks at buffers
    bool buffers = true;      ///< short messages
    int cores = 0;            ///< that all nodes share, one each; 0: each rank has its own
    int calls = 1;            ///< one after the other
};

class Simulation {
public:
    Simulation(Ranks& ranks, const Parameters& parameters, SimulationOptions options);
    ~Simulation();

    /// Writes what a rank does in a call.
    using Write = std::function<void(coll::Schedule& schedule)>;
    Outcome run(const Write& write, std::int32_t tag);

private:
    struct Rank;
    struct Message {
        double time;  ///< when its sender's overhead ends
        std::uint64_t bytes;
        const std::byte* data;
        bool buffered;
    };
    struct Receive {
        double time;
        std::uint64_t bytes;
        std::byte* data;
    };
    /// What one rank has sent to another, or waits for, the first one first; one of the two is empty.
    struct Pair {
        std::vector<Message> messages{};
        std::vector<Receive> receives{};
    };
    struct Core {
        double free = 0;
        std::int32_t last = -1;
    };
    struct Signal {
        double time = 0;
        std::vector<std::int32_t> waiting{};
    };

    void go_on(std::int32_t number);
    bool may_step(Rank& rank);
    void step(Rank& rank, const coll::Step& step);
    void send(Rank& rank, const coll::Step& step);
    void receive(Rank& rank, const coll::Step& step);
    template <class T>
    T take_first(std::uint64_t pair, std::vector<T> Pair::* list);
    void meet(Rank& from, Rank& to, const Message& message, const Receive& receive);
    void signal(Rank& rank, const coll::Step& step);
    void work(Rank& rank, const coll::Step& step);
    bool has_signal(Rank& rank, const coll::Step& step);
    void take_arrivals(Rank& rank);
    void spend(Rank& rank, double us);
    void wake(Rank& rank, double time);
    Core* core_of(const Rank& rank) noexcept;
    const Link& link(std::int32_t from, std::int32_t to) const noexcept;
    double through_network(std::vector<double>& free, std::int32_t node, double time,
                           std::uint64_t bytes) const noexcept;
    void count(Rank& from, Rank& to, std::uint64_t bytes) noexcept;
    void write_all(const Write& write, std::int32_t tag);
    void sum_up();

    Ranks& ranks_;
    const Parameters parameters_;
    const SimulationOptions options_;
    Outcome outcome_;
    std::vector<std::unique_ptr<Rank>> all_;
    std::unordered_map<std::uint64_t, Pair> pairs_;
    std::unordered_map<const void*, Signal> signals_;
    std::vector<Core> cores_;
    std::vector<double> leaving_, coming_;  ///< until when the network of a node is busy
    using Next = std::pair<double, std::int32_t>;
    std::priority_queue<Next, std::vector<Next>, std::greater<>> next_;
};

}  // namespace heddle::scale
