// SPDX-License-Identifier: BSD-3-Clause
#include "replay/replay.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>

#include "match/all.hpp"
#include "replay/state.hpp"

namespace heddle::replay {
namespace {

/// The objects that operations name by their slots.
struct Objects {
    explicit Objects(const Sequence& sequence)
        : receives(std::make_unique<core::Request[]>(sequence.receives())),
          messages(std::make_unique<match::Message[]>(sequence.messages())) {}

    std::unique_ptr<core::Request[]> receives;
    std::unique_ptr<match::Message[]> messages;
};

/// Performs the operation, and returns what it found: a receive, a message, or nothing.
template <class Engine>
[[gnu::always_inline]] inline const void* perform(State<Engine>& state, Objects& objects,
                                                  const Operation& operation) noexcept {
    switch (operation.step) {
        case Step::post: {
            core::Request& receive = objects.receives[operation.own];
            receive.context = operation.envelope.context;
            receive.source = operation.envelope.source;
            receive.tag = operation.envelope.tag;
            return state.post(receive);
        }
        case Step::arrive: {
            if (core::Request* receive = state.arrive(operation.envelope)) return receive;
            match::Message& message = objects.messages[operation.own];
            message.envelope = operation.envelope;
            state.keep(message);
            return nullptr;
        }
        case Step::cancel:
            return state.cancel(objects.receives[operation.own]) ? &objects.receives[operation.own]
                                                                 : nullptr;
        default: return state.take(operation.envelope);
    }
}

const void* expected(const Objects& objects, const Operation& operation) noexcept {
    if (operation.step == Step::cancel) return &objects.receives[operation.own];
    if (operation.other == nothing) return nullptr;
    if (operation.step == Step::arrive) return &objects.receives[operation.other];
    return &objects.messages[operation.other];
}

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

template <class Engine>
void count(const Sequence& sequence, Objects& objects, double limit, Result& result) {
    constexpr std::size_t between_looks_at_the_clock = 256;
    const auto state = std::make_unique<State<Engine>>();
    const auto start = Clock::now();
    for (const Operation& operation : sequence.operations()) {
        if (result.operations % between_looks_at_the_clock == 0 && seconds_since(start) > limit)
            return;
        const std::uint64_t before = state->steps();
        if (perform(*state, objects, operation) != expected(objects, operation))
            throw std::logic_error("the engines " + std::string(Engine::name) + " and " +
                                   std::string(match::DefaultMatcher::name) + " match differently");
        const std::uint64_t depth = state->steps() - before;
        if (operation.step == Step::arrive)
            result.arrivals.add(depth);
        else if (operation.step != Step::cancel)
            result.posts.add(depth);
        ++result.operations;
    }
}

template <class Engine>
double time_once(std::span<const Operation> operations, Objects& objects) {
    const auto state = std::make_unique<State<Engine>>();
    const auto start = Clock::now();
    for (const Operation& operation : operations) perform(*state, objects, operation);
    return seconds_since(start);
}

/// Returns the time of the fastest of some replays, since other programs can only slow one down.
template <class Engine>
double time(std::span<const Operation> operations, Objects& objects, double enough) {
    constexpr int most = 100;
    double best = time_once<Engine>(operations, objects), sum = best;
    for (int round = 1; round < most && sum < enough; ++round) {
        const double seconds = time_once<Engine>(operations, objects);
        best = std::min(best, seconds);
        sum += seconds;
    }
    return best;
}

template <class Engine>
Result replay_under(const Sequence& sequence, const Patience& patience) {
    Objects objects(sequence);
    Result result{Engine::name, 0, {}, {}, 0};
    count<Engine>(sequence, objects, patience.counting, result);
    const std::span<const Operation> done(sequence.operations().data(), result.operations);
    result.seconds = time<Engine>(done, objects, patience.timing);
    return result;
}

template <class... Engines>
std::vector<Result> replay_under_all(const Sequence& sequence, const Patience& patience,
                                     std::tuple<Engines...>*) {
    return {replay_under<Engines>(sequence, patience)...};
}

}  // namespace

void Depths::add(std::uint64_t depth) noexcept {
    ++operations_;
    steps_ += depth;
    deepest_ = std::max(deepest_, depth);
    ++histogram_[static_cast<std::size_t>(std::bit_width(depth))];
}

Depths& Depths::operator+=(const Depths& other) noexcept {
    operations_ += other.operations_;
    steps_ += other.steps_;
    deepest_ = std::max(deepest_, other.deepest_);
    for (std::size_t i = 0; i < buckets; ++i) histogram_[i] += other.histogram_[i];
    return *this;
}

double Depths::average() const noexcept {
    return operations_ == 0 ? 0 : static_cast<double>(steps_) / static_cast<double>(operations_);
}

std::vector<Result> replay(const Sequence& sequence, const Patience& patience) {
    return replay_under_all(sequence, patience, static_cast<match::Matchers*>(nullptr));
}

}  // namespace heddle::replay
