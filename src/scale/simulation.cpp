// SPDX-License-Identifier: BSD-3-Clause
#include "scale/simulation.hpp"

#include <algorithm>
#include <cstring>

#include "coll/shared_scratch.hpp"
#include "coll/shared_wait.hpp"
#include "coll/step.hpp"

namespace heddle::scale {

using coll::Schedule;
using coll::Step;

struct Simulation::Rank {
    struct Arrival {
        double time;
        double overhead;
        bool operator<(const Arrival& other) const noexcept { return time < other.time; }
    };

    std::int32_t number;
    double clock = 0;
    std::vector<std::unique_ptr<Schedule>> calls{};
    std::size_t call = 0, at = 0;     ///< the next step
    std::uint32_t pending = 0;        ///< number of messages that have not been received yet
    double sent = 0;                  ///< when the last awaited message has left
    std::vector<Arrival> arrivals{};  ///< those that have not been taken
    bool waits = false;               ///< for messages
    std::uint64_t messages = 0, rounds = 0;

    bool ended() const noexcept { return call == calls.size(); }
};

Simulation::Simulation(Ranks& ranks, const Parameters& parameters, SimulationOptions options)
    : ranks_(ranks),
      parameters_(parameters),
      options_(options),
      cores_(static_cast<std::size_t>(options.cores)),
      leaving_(static_cast<std::size_t>(ranks.map().nodes)),
      coming_(static_cast<std::size_t>(ranks.map().nodes)) {}

Simulation::~Simulation() = default;

Outcome Simulation::run(const Write& write, std::int32_t tag) {
    write_all(write, tag);
    for (const auto& rank : all_) next_.emplace(rank->clock, rank->number);
    while (!next_.empty()) {
        const std::int32_t number = next_.top().second;
        next_.pop();
        go_on(number);
    }
    sum_up();
    return outcome_;
}

void Simulation::write_all(const Write& write, std::int32_t tag) {
    for (std::int32_t number = 0; number < ranks_.size(); ++number) {
        all_.push_back(std::make_unique<Rank>(number));
        for (int call = 0; call < options_.calls; ++call) {
            auto schedule = std::make_unique<Schedule>(ranks_.writer(), ranks_[number], tag);
            write(*schedule);
            outcome_.most_scratch_bytes =
                std::max(outcome_.most_scratch_bytes, schedule->scratch_bytes());
            outcome_.most_steps =
                std::max<std::uint64_t>(outcome_.most_steps, schedule->steps().size());
            all_.back()->calls.push_back(std::move(schedule));
        }
    }
}

/// Does steps until the rank waits, has ended, or is ahead of another one.
void Simulation::go_on(std::int32_t number) {
    Rank& rank = *all_[static_cast<std::size_t>(number)];
    while (!rank.ended()) {
        if (!next_.empty() && next_.top().first < rank.clock)
            return next_.emplace(rank.clock, number);
        if (!may_step(rank)) return;
    }
}

/// Does the next step. Returns false if the rank must wait.
bool Simulation::may_step(Rank& rank) {
    const auto steps = rank.calls[rank.call]->steps();
    const bool at_end = rank.at == steps.size();
    if (at_end || steps[rank.at].kind == Step::Kind::wait) {
        rank.waits = rank.pending != 0;
        if (rank.waits) return false;
        take_arrivals(rank);
        rank.at = at_end ? 0 : rank.at + 1;
        if (at_end) ++rank.call;
        return true;
    }
    const bool awaits = steps[rank.at].kind == Step::Kind::await ||
        steps[rank.at].kind == Step::Kind::await_release;
    if (awaits && !has_signal(rank, steps[rank.at])) return false;
    step(rank, steps[rank.at++]);
    return true;
}

void Simulation::step(Rank& rank, const Step& step) {
    switch (step.kind) {
        case Step::Kind::send: return send(rank, step);
        case Step::Kind::receive: return receive(rank, step);
        case Step::Kind::signal:
        case Step::Kind::release: return signal(rank, step);
        case Step::Kind::await:
        case Step::Kind::await_release: return spend(rank, parameters_.step_us);
        default: return work(rank, step);
    }
}

namespace {

std::uint64_t pair_of(std::int32_t from, std::int32_t to) noexcept {
    return static_cast<std::uint64_t>(from) << 32 | static_cast<std::uint32_t>(to);
}

}  // namespace

void Simulation::send(Rank& rank, const Step& step) {
    const Link& way = link(rank.number, step.peer);
    const bool copied = way.copies(step.size);
    spend(rank, way.o_s.at(copied ? step.size : 0));
    const Message message{rank.clock, step.size, step.from, options_.buffers && copied};
    if (!message.buffered) ++rank.pending;
    const std::uint64_t key = pair_of(rank.number, step.peer);
    Pair& pair = pairs_[key];
    if (pair.receives.empty()) return pair.messages.push_back(message);
    meet(rank, *all_[static_cast<std::size_t>(step.peer)], message,
         take_first(key, &Pair::receives));
}

void Simulation::receive(Rank& rank, const Step& step) {
    spend(rank, parameters_.step_us);
    ++rank.pending;
    const Receive receive{rank.clock, step.size, step.to};
    const std::uint64_t key = pair_of(step.peer, rank.number);
    Pair& pair = pairs_[key];
    if (pair.messages.empty()) return pair.receives.push_back(receive);
    meet(*all_[static_cast<std::size_t>(step.peer)], rank, take_first(key, &Pair::messages),
         receive);
}

/// Takes the first entry of a list that is not empty. Removes pairs without entries.
template <class T>
T Simulation::take_first(std::uint64_t pair, std::vector<T> Pair::* list) {
    const auto at = pairs_.find(pair);
    std::vector<T>& waiting = at->second.*list;
    const T first = waiting.front();
    waiting.erase(waiting.begin());
    if (waiting.empty()) pairs_.erase(at);
    return first;
}

/// Joins a message and its receive. A message that is not copied has only been announced. It leaves
/// when the answer of its receive has come, and its sender waits until then.
void Simulation::meet(Rank& from, Rank& to, const Message& message, const Receive& receive) {
    const Link& way = link(from.number, to.number);
    const std::uint64_t bytes = message.bytes;
    if (bytes != receive.bytes) ++outcome_.wrong_lengths;
    if (options_.moves_data && bytes <= receive.bytes && bytes != 0)
        std::memcpy(receive.data, message.data, bytes);
    double left = message.time;
    if (!way.copies(bytes)) {
        const double answered = std::max(message.time - way.o_s.at(0) + way.handshake(),
                                         receive.time + way.handshake() / 2);
        from.arrivals.push_back({answered, way.o_s.at(bytes)});
        left = answered + way.o_s.at(bytes);
    }
    double arrival = left;
    if (core_of(from) == nullptr || core_of(from) != core_of(to)) arrival += way.latency(bytes);
    if (&way == &parameters_.between) {
        left = through_network(leaving_, ranks_.node_of(from.number), left, bytes);
        arrival = std::max(arrival, left - way.o_r.at(bytes));
        arrival = through_network(coming_, ranks_.node_of(to.number), arrival, bytes);
    }
    count(from, to, bytes);
    to.arrivals.push_back({arrival, way.o_r.at(bytes)});
    if (!message.buffered) {
        from.sent = std::max(from.sent, left);
        if (--from.pending == 0 && from.waits) wake(from, left);
    }
    if (--to.pending == 0 && to.waits) wake(to, arrival);
}

/// Returns when the bytes have passed. No others pass meanwhile.
double Simulation::through_network(std::vector<double>& free, std::int32_t node, double time,
                                   std::uint64_t bytes) const noexcept {
    double& busy = free[static_cast<std::size_t>(node)];
    const double taken = static_cast<double>(bytes) * parameters_.between.byte_us;
    busy = std::max(busy + taken, time);
    return busy;
}

void Simulation::wake(Rank& rank, double time) {
    next_.emplace(std::max(rank.clock, time), rank.number);
}

/// Takes arrivals in their order.
void Simulation::take_arrivals(Rank& rank) {
    if (rank.arrivals.empty() && rank.sent == 0) return;
    ++rank.rounds;
    std::sort(rank.arrivals.begin(), rank.arrivals.end());
    for (const Rank::Arrival& arrival : rank.arrivals) {
        rank.clock = std::max(rank.clock, arrival.time);
        spend(rank, arrival.overhead);
    }
    rank.clock = std::max(rank.clock, rank.sent);
    rank.arrivals.clear();
    rank.sent = 0;
}

void Simulation::signal(Rank& rank, const Step& step) {
    spend(rank, parameters_.step_us);
    coll::signal(step);
    ++outcome_.signals;
    Signal& word = signals_[step.to];
    word.time = rank.clock + parameters_.signal_us;
    for (const std::int32_t waiting : std::exchange(word.waiting, {}))
        wake(*all_[static_cast<std::size_t>(waiting)], word.time);
}

bool Simulation::has_signal(Rank& rank, const Step& step) {
    const auto& word = *reinterpret_cast<const coll::SharedWord*>(step.to);
    Signal& known = signals_[step.to];
    if (!word.reached(step.turn)) {
        known.waiting.push_back(rank.number);
        return false;
    }
    rank.clock = std::max(rank.clock, known.time);
    if (step.size != 0 && coll::given_bytes(step) != step.size) ++outcome_.wrong_lengths;
    return true;
}

void Simulation::work(Rank& rank, const Step& step) {
    const Schedule& schedule = *rank.calls[rank.call];
    const bool combines = step.kind == Step::Kind::combine;
    const auto bytes =
        static_cast<double>(combines ? step.size * schedule.reduction.element_bytes : step.size);
    spend(rank,
          parameters_.step_us +
              bytes * (combines ? parameters_.combined_byte_us : parameters_.copied_byte_us));
    if (options_.moves_data) coll::do_locally(schedule, step);
}

Simulation::Core* Simulation::core_of(const Rank& rank) noexcept {
    if (cores_.empty()) return nullptr;
    return &cores_[static_cast<std::size_t>(ranks_.node_of(rank.number)) % cores_.size()];
}

void Simulation::spend(Rank& rank, double us) {
    if (Core* core = core_of(rank)) {
        const std::int32_t last = std::exchange(core->last, rank.number);
        const bool switches = last >= 0 && last != rank.number;
        rank.clock =
            std::max(rank.clock, core->free) + (switches ? link(last, rank.number).switch_us : 0);
        core->free = rank.clock + us;
    }
    rank.clock += us;
}

const Link& Simulation::link(std::int32_t from, std::int32_t to) const noexcept {
    return ranks_.node_of(from) == ranks_.node_of(to) ? parameters_.within : parameters_.between;
}

void Simulation::count(Rank& from, Rank& to, std::uint64_t bytes) noexcept {
    const bool is_within = ranks_.node_of(from.number) == ranks_.node_of(to.number);
    Traffic& traffic = is_within ? outcome_.within : outcome_.between;
    ++traffic.messages;
    traffic.bytes += bytes;
    ++from.messages;
    ++to.messages;
}

void Simulation::sum_up() {
    for (const auto& rank : all_) {
        outcome_.time_us = std::max(outcome_.time_us, rank->clock);
        outcome_.most_messages = std::max(outcome_.most_messages, rank->messages);
        outcome_.most_rounds = std::max(outcome_.most_rounds, rank->rounds);
        if (!rank->ended()) outcome_.stuck.push_back(rank->number);
    }
    for (const auto& [ranks, pair] : pairs_)
        outcome_.left_over += pair.messages.size() + pair.receives.size();
}

}  // namespace heddle::scale
