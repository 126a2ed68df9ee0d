// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Runs the schedules of all ranks of a job (coll/schedule.hpp) in one thread, and tells how long
/// they would take.
///
/// Order          a rank does one step after the other. The rank whose clock is lowest goes on. A
///                rank stops if it waits for a message or a signal, and goes on when that has come.
/// Messages       between two ranks are received in the order of their sends, and must have the
///                length of their receives. Unbuffered ones end for their sender when they are
///                received: a job that does not hang then hangs with no network.
/// Time           of a message follows scale/parameters.hpp. Its overheads keep the processors of
///                both ranks, its bytes keep the network of either node. Ranks that share a core
///                take turns on it.
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
    double time_us = 0;         ///< the end of the last rank
    Traffic within, between;    ///< within nodes, between nodes
    std::uint64_t signals = 0;  ///< in shared memory
    // Numbers of the rank with most of each:
    std::uint64_t most_messages = 0;       ///< sent and received
    std::uint64_t most_rounds = 0;         ///< waits for messages
    std::uint64_t most_scratch_bytes = 0;  ///< for a schedule
    std::uint64_t most_steps = 0;          ///< for a schedule
    // Errors:
    std::vector<std::int32_t> stuck;  ///< ranks that wait for ever
    std::uint64_t left_over = 0;      ///< unmatched messages and receives
    std::uint64_t wrong_lengths = 0;  ///< messages that differ from the length of their receives

    bool fine() const noexcept { return stuck.empty() && left_over == 0 && wrong_lengths == 0; }
};

struct SimulationOptions {
    bool moves_data = false;  ///< else buffers are not read
    bool buffers = true;      ///< for short messages
    int cores = 0;            ///< shared by all nodes, one each; 0 if each rank has its own
    int calls = 1;            ///< one after the other
};

class Simulation {
public:
    Simulation(Ranks& ranks, const Parameters& parameters, SimulationOptions options);
    ~Simulation();

    /// Writes the steps of a rank in a call.
    using Write = std::function<void(coll::Schedule& schedule)>;
    Outcome run(const Write& write, std::int32_t tag);

private:
    struct Rank;
    struct Message {
        double time;  ///< the end of its sender's overhead
        std::uint64_t bytes;
        const std::byte* data;
        bool buffered;
    };
    struct Receive {
        double time;
        std::uint64_t bytes;
        std::byte* data;
    };
    /// The messages from one rank to another, or the receives, in order. One of the two is empty.
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
    std::vector<double> leaving_, coming_;  ///< when the network of a node becomes free
    using Next = std::pair<double, std::int32_t>;
    std::priority_queue<Next, std::vector<Next>, std::greater<>> next_;
};

}  // namespace heddle::scale
