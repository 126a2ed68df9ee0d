// SPDX-License-Identifier: BSD-3-Clause
#include "replay/replay.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
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

/// Does what the operation says, and answers what it found: a receive, a message, or nothing.
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

template <class Engine>
void count(const Sequence& sequence, Objects& objects, Result& result) {
    const auto state = std::make_unique<State<Engine>>();
    for (const Operation& operation : sequence.operations()) {
        const std::uint64_t before = state->steps();
        if (perform(*state, objects, operation) != expected(objects, operation))
            throw std::logic_error("the engines " + std::string(Engine::name) + " and " +
                                   std::string(match::DefaultMatcher::name) + " match differently");
        const std::uint64_t depth = state->steps() - before;
        if (operation.step == Step::arrive)
            result.arrivals.add(depth);
        else if (operation.step != Step::cancel)
            result.posts.add(depth);
    }
}

template <class Engine>
double time_once(const Sequence& sequence, Objects& objects) {
    const auto state = std::make_unique<State<Engine>>();
    const auto start = std::chrono::steady_clock::now();
    for (const Operation& operation : sequence.operations()) perform(*state, objects, operation);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Other programs can only make a replay slower: the fastest of some counts. Short ones are repeated more.
template <class Engine>
double time(const Sequence& sequence, Objects& objects, double enough) {
    constexpr int fewest = 3, most = 100;
    double best = time_once<Engine>(sequence, objects), sum = best;
    for (int round = 1; round < fewest || (round < most && sum < enough); ++round) {
        const double seconds = time_once<Engine>(sequence, objects);
        best = std::min(best, seconds);
        sum += seconds;
    }
    return best;
}

template <class Engine>
Result replay_under(const Sequence& sequence, double seconds) {
    Objects objects(sequence);
    Result result{Engine::name, {}, {}, 0};
    count<Engine>(sequence, objects, result);
    result.seconds = time<Engine>(sequence, objects, seconds);
    return result;
}

template <class... Engines>
std::vector<Result> replay_under_all(const Sequence& sequence, double seconds,
                                     std::tuple<Engines...>*) {
    return {replay_under<Engines>(sequence, seconds)...};
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

std::vector<Result> replay(const Sequence& sequence, double seconds) {
    return replay_under_all(sequence, seconds, static_cast<match::Matchers*>(nullptr));
}

}  // namespace heddle::replay
